import { writeLimits } from '../../resources/modbus-tags.js'
import { describe, SluiceError } from '../base/errors.js'
import { readOptions } from '../base/options.js'
import { addressingProperty } from './addresses.js'
import { compileTags } from './tags.js'
import { writableTagsProperty } from './tags.schema.js'
import { isBits } from './wire/pdu.js'

/**
 * @typedef {import('./tags.js').Tag} Tag
 * @typedef {import('./values.js').Cell} Cell
 * @typedef {{written: Cell|boolean, readBack: Cell|boolean|null, ok: boolean}} Confirmation  `written`: the value as the device can store
 *   it
 * @typedef {{tag: Tag, data: Uint16Array, written: Cell|boolean}} Write
 */

const MAX_WAITING = 100

/** How far a float32 or a scale may move a number; beyond that it is a different number. */
const ROUNDING = 1e-6

export const schema = {
  type: 'object',
  title: 'Modbus write',
  description: 'Writes values to the tags of a Modbus device, and reads each back.',
  properties: {
    allowed: {
      type: 'boolean',
      title: 'Allow writing',
      description: 'Nothing is written until this is on: a wrong value can harm machines and people.',
      default: false
    },
    addressing: addressingProperty,
    tags: writableTagsProperty
  }
}

/**
 * Writes to one device, one message after the other. A message is checked as a whole before anything is sent; then each value is written
 * and read back, and the first failure ends it.
 */
export class ModbusWriter {
  #isAllowed
  #device
  /** @type {Map<string, Tag>} */
  #tags
  #waiting = 0
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve()

  /**
   * @param {object} options  as in the schema
   * @param {{device: import('./device.js').Device, order?: import('./bytes.js').Order}} context
   * @throws {SluiceError} SLUICE_OPTIONS
   */
  constructor (options, { device, order }) {
    const { allowed, addressing, tags } = readOptions(schema, options)
    this.#isAllowed = allowed
    this.#device = device
    const compiled = compileTags(tags, { addressing, order, limits: writeLimits(device.limits), isWritten: true })
    this.#tags = new Map(compiled.map(tag => [tag.name, tag]))
  }

  /**
   * @param {unknown} values  by tag
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Record<string, Confirmation>>} by tag; one that is not `ok` reads back as another value
   * @throws {SluiceError} SLUICE_MODBUS_WRITE_OFF, SLUICE_MODBUS_WRITE (nothing was sent), SLUICE_MODBUS_WRITE_FAILED (`details.confirmed`:
   *   what was written before)
   */
  async write (values, { signal } = {}) {
    if (!this.#isAllowed) {
      throw new SluiceError('SLUICE_MODBUS_WRITE_OFF', 'This node may not write.', { fix: 'Tick "Allow writing" in its form, and deploy.' })
    }
    const writes = this.#encode(values)
    if (this.#waiting >= MAX_WAITING) {
      throw new SluiceError('SLUICE_MODBUS_WRITE', `${MAX_WAITING} messages already wait to be written.`, { fix: 'Send fewer.' })
    }
    this.#waiting++
    const turn = this.#turn.then(() => this.#writeAll(writes, signal)).finally(() => { this.#waiting-- })
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** @param {unknown} values @returns {Write[]} */
  #encode (values) {
    if (typeof values !== 'object' || values === null || Array.isArray(values) || Object.keys(values).length === 0) {
      throw refusal('The payload must be an object of values by tag, such as {"setpoint": 20.5}.')
    }
    /** @type {string[]} */
    const problems = []
    const writes = Object.entries(values).flatMap(([name, value]) => {
      try {
        return [this.#encodeOne(name, value)]
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error
        problems.push(`"${name}" ${error.message}`)
        return []
      }
    })
    if (problems.length > 0) throw refusal(`${problems.join('; ')}.`)
    return writes
  }

  /** @param {string} name @param {unknown} value @returns {Write} */
  #encodeOne (name, value) {
    const tag = this.#tags.get(name)
    if (!tag) throw refusal('is not a tag of this node')
    const data = tag.encode(value)
    const held = shown(tag, data)
    if (typeof held === 'string' || typeof held === 'boolean') return { tag, data, written: held }
    const asked = typeof value === 'string' ? BigInt(value) : /** @type {number|bigint} */ (value)
    refuseBeyond(tag, asked, { low: `${asked} is less`, high: `${asked} is more` })
    if (held === null || isAlike(held, asked)) return { tag, data, written: held ?? asked }
    const becomes = `${asked} would be written as ${held}`
    refuseBeyond(tag, held, { low: becomes, high: becomes })
    return { tag, data, written: held }
  }

  /** @param {Write[]} writes @param {AbortSignal} [signal] */
  async #writeAll (writes, signal) {
    /** @type {Record<string, Confirmation>} */
    const confirmed = {}
    for (const [index, { tag, data, written }] of writes.entries()) {
      const area = /** @type {'coils'|'holding-registers'} */ (tag.area)
      let failed = 'could not be written and confirmed'
      try {
        await this.#device.write(area, tag.address, data, { signal })
        failed = 'was written, but could not be read back'
        const back = await this.#device.read(area, tag.address, data.length, { signal })
        const ok = data.every((word, i) => word === back[i])
        confirmed[tag.name] = { written, readBack: ok ? written : shown(tag, back), ok }
      } catch (cause) {
        const before = Object.entries(confirmed).map(([name, { ok, readBack }]) => ok ? name : `${name} (reads back as ${readBack})`)
        const after = writes.slice(index + 1).map(({ tag: { name } }) => name)
        const texts = [`"${tag.name}" ${failed}: ${describe(cause)}`, ...listed('Written before', before), ...listed('Not tried', after)]
        throw new SluiceError('SLUICE_MODBUS_WRITE_FAILED', texts.join(' '), { cause, details: { confirmed } })
      }
    }
    return confirmed
  }
}

/** @param {Tag} tag @param {number|bigint} number @param {{low: string, high: string}} why */
function refuseBeyond ({ min, max }, number, why) {
  if (min !== null && number < min) throw refusal(`must be at least ${min}; ${why.low}`)
  if (max !== null && number > max) throw refusal(`must be at most ${max}; ${why.high}`)
}

/** Apart from rounding errors. @param {number|bigint} one @param {number|bigint} other */
function isAlike (one, other) {
  return Math.abs(Number(one) - Number(other)) <= Math.abs(Number(other)) * ROUNDING + Number.EPSILON
}

/** @param {string} title @param {string[]} names */
function listed (title, names) {
  return names.length > 0 ? [`${title}: ${names.join(', ')}.`] : []
}

/** @param {Tag} tag @param {ArrayLike<number>} data @returns {Cell|boolean|null} */
function shown ({ read, area }, data) {
  const value = read(data, 0) ?? null
  return isBits(area) && value !== null ? value === 1 : value
}

/** @param {string} text */
function refusal (text) {
  return new SluiceError('SLUICE_MODBUS_WRITE', text)
}
