import { SluiceError } from '../base/errors.js'
import { readOptions } from '../base/options.js'
import { nowNs } from '../clock/system-clock.js'
import { encodePayload, msOf } from './codec.js'
import { topicOf } from './topic.js'

/**
 * Writing as a host: one NCMD or DCMD for each message, with the metrics that the form allows.
 *
 * @typedef {import('./codec.js').MetricInit} MetricInit
 * @typedef {{code: number, write: (value: unknown) => NonNullable<MetricInit['value']>, isNumber?: boolean}} Writable
 * @typedef {{name: string, type: string, min: number|null, max: number|null}} AllowedMetric
 */

/** @type {Record<string, Writable>} */
const TYPES = {
  Boolean: { code: 11, write: value => ({ case: 'booleanValue', value: truth(value) }) },
  Int8: whole(1, 8, -(2n ** 7n), 2n ** 7n),
  Int16: whole(2, 16, -(2n ** 15n), 2n ** 15n),
  Int32: whole(3, 32, -(2n ** 31n), 2n ** 31n),
  Int64: whole(4, 64, -(2n ** 63n), 2n ** 63n),
  UInt8: whole(5, 8, 0n, 2n ** 8n),
  UInt16: whole(6, 16, 0n, 2n ** 16n),
  UInt32: whole(7, 32, 0n, 2n ** 32n),
  UInt64: whole(8, 64, 0n, 2n ** 64n),
  Float: { code: 9, isNumber: true, write: value => ({ case: 'floatValue', value: finite(value, Math.fround) }) },
  Double: { code: 10, isNumber: true, write: value => ({ case: 'doubleValue', value: finite(value, Number) }) },
  String: { code: 12, write: value => ({ case: 'stringValue', value: text(value) }) },
  Text: { code: 14, write: value => ({ case: 'stringValue', value: text(value) }) },
  DateTime: whole(13, 64, 0n, 2n ** 63n)
}

const numeric = { type: Object.keys(TYPES).filter(type => TYPES[type].isNumber) }
/** @param {string} title @param {string} description */
const limit = (title, description) => ({
  type: 'number', title, description, default: null, 'x-labels': { '': 'none' }, 'x-when': numeric
})
/** @param {string} title @param {string} description */
const id = (title, description) => ({ type: 'string', title, description, maxLength: 100 })

export const schema = {
  type: 'object',
  title: 'Sparkplug write',
  description: 'Writes metrics of a Sparkplug device or edge node, as a host does.',
  required: ['groupId', 'nodeId'],
  properties: {
    allowed: {
      type: 'boolean',
      title: 'Allow writing',
      description: 'Nothing is written until this is on: a wrong value can harm machines and people.',
      default: false
    },
    groupId: { ...id('Group', 'The Sparkplug group of the edge node.'), pattern: '^[^/+#]+$', examples: ['plant-1'] },
    nodeId: { ...id('Edge node', 'The id of the edge node.'), pattern: '^[^/+#]+$', examples: ['press-line'] },
    deviceId: {
      ...id('Device', 'The device that is written to; empty for the edge node itself.'),
      pattern: '^[^/+#]*$',
      examples: ['press'],
      default: '',
      'x-labels': { '': 'the edge node itself' }
    },
    metrics: {
      type: 'array',
      title: 'Metrics',
      description: 'What may be written, and within which limits; nothing else can be.',
      maxItems: 1000,
      default: [],
      'x-unique': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', title: 'Name', description: 'As in the birth of its device.', minLength: 1, maxLength: 255 },
          type: {
            type: 'string',
            title: 'Type',
            description: 'As in the birth of its device.',
            enum: Object.keys(TYPES),
            default: 'Double'
          },
          min: limit('Lowest', 'A lower value is refused. Empty: the limit of the type.'),
          max: limit('Highest', 'A higher value is refused. Empty: the limit of the type.')
        }
      }
    }
  }
}

/** Turns values into commands. It knows nothing of MQTT. */
export class Commander {
  #options
  /** @type {Map<string, AllowedMetric>} */
  #metrics
  #now

  /** @param {object} options  as in the schema @param {() => bigint} [now]  nanoseconds since 1970 */
  constructor (options, now = nowNs) {
    this.#options = readOptions(schema, options)
    this.#metrics = new Map(this.#options.metrics.map((/** @type {AllowedMetric} */ metric) => [metric.name, metric]))
    this.#now = now
  }

  /**
   * @param {unknown} values  by metric
   * @returns {{topic: string, payload: Buffer}} to be published with QoS 0, not retained
   * @throws {SluiceError} SLUICE_SPARKPLUG_WRITE_OFF, SLUICE_SPARKPLUG_WRITE
   */
  command (values) {
    const { allowed, groupId, nodeId, deviceId } = this.#options
    if (!allowed) {
      throw new SluiceError('SLUICE_SPARKPLUG_WRITE_OFF', 'This node may not write.', {
        fix: 'Tick "Allow writing" in its form, and deploy.'
      })
    }
    const timestamp = msOf(this.#now())
    return {
      topic: topicOf(deviceId ? { type: 'DCMD', groupId, nodeId, deviceId } : { type: 'NCMD', groupId, nodeId }),
      payload: encodePayload({ timestamp, metrics: this.#encode(values, timestamp) })
    }
  }

  /** @param {unknown} values @param {bigint} timestamp @returns {MetricInit[]} */
  #encode (values, timestamp) {
    if (typeof values !== 'object' || values === null || Array.isArray(values) || Object.keys(values).length === 0) {
      throw refusal('The payload must be an object of values by metric, such as {"setpoint": 20.5}.')
    }
    /** @type {string[]} */
    const problems = []
    const metrics = Object.entries(values).flatMap(([name, value]) => {
      try {
        return [this.#metric(name, value, timestamp)]
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error
        problems.push(`"${name}" ${error.message}`)
        return []
      }
    })
    if (problems.length > 0) throw refusal(`${problems.join('; ')}.`)
    return metrics
  }

  /** @param {string} name @param {unknown} value @param {bigint} timestamp @returns {MetricInit} */
  #metric (name, value, timestamp) {
    const metric = this.#metrics.get(name)
    if (!metric) throw refusal('is not a metric of this node')
    const { code, write, isNumber } = TYPES[metric.type]
    const written = write(value)
    if (isNumber) {
      const number = typeof value === 'string' ? BigInt(value) : /** @type {number|bigint} */ (value)
      if (metric.min !== null && number < metric.min) throw refusal(`must be at least ${metric.min}; ${number} is less`)
      if (metric.max !== null && number > metric.max) throw refusal(`must be at most ${metric.max}; ${number} is more`)
    }
    return { name, timestamp, datatype: code, value: written }
  }
}

/**
 * Up to 32 bits in `int_value`, otherwise in `long_value`; negative ones in two's complement of their own width.
 * @param {number} code @param {number} bits @param {bigint} lowest @param {bigint} above
 * @returns {Writable}
 */
function whole (code, bits, lowest, above) {
  return {
    code,
    isNumber: true,
    write (value) {
      const number = integer(value)
      if (number < lowest || number >= above) throw refusal(`must be between ${lowest} and ${above - 1n}`)
      const unsigned = BigInt.asUintN(bits, number)
      return bits > 32 ? { case: 'longValue', value: unsigned } : { case: 'intValue', value: Number(unsigned) }
    }
  }
}

/** @param {unknown} value */
function integer (value) {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value)
  throw refusal('must be a whole number, beyond ±2^53 a BigInt or digits in a text')
}

/** @param {unknown} value @param {(value: number) => number} held  as its type can hold it */
function finite (value, held) {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refusal('must be a number')
  if (!Number.isFinite(held(value))) throw refusal('is out of range')
  return value
}

/** @param {unknown} value */
function truth (value) {
  if (typeof value !== 'boolean') throw refusal('must be true or false')
  return value
}

/** @param {unknown} value */
function text (value) {
  if (typeof value !== 'string') throw refusal('must be text')
  return value
}

/** @param {string} problem */
function refusal (problem) {
  return new SluiceError('SLUICE_SPARKPLUG_WRITE', problem)
}
