import { isUtf8 } from 'node:buffer'
import { SluiceError } from '../../base/errors.js'
import { Batch } from '../../batch/batch.js'
import { parseTime } from '../../batch/time.js'
import { nowNs } from '../../clock/system-clock.js'
import { MAX_BYTES } from '../bounds.js'
import { decodeMessage } from '../codecs/index.js'
import { readShaped } from '../codecs/json-shapes.js'
import { statementOf } from '../statement.js'
import { adopt } from './adopt.js'
import { convert } from './convert.js'
import { Fault } from './fault.js'
import { placeFinder } from './places.js'
import { defaultPlan, planOf } from './plan.js'

/**
 * @typedef {import('./presets.js').Mapping} Mapping
 * @typedef {import('../contents.js').Message} Message
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {{batches: Batch[], refused: Refused[]}} Content
 */

const NULL = Buffer.from('null')
const [OPEN_ARRAY, OPEN_OBJECT] = Buffer.from('[{')
const JSON_TYPE = 'application/json'

/** Turns messages into batches by their topics: the first mapping whose pattern matches decides. */
export class Mapper {
  /** What to subscribe to. @type {string[]} */
  filters
  #placeOf
  #timeUnit

  /**
   * @param {Mapping[]} mappings
   * @param {{timeUnit?: import('../../batch/time.js').TimeUnit}} [options]  of times that are numbers
   * @throws {SluiceError} SLUICE_MAPPING
   */
  constructor (mappings, { timeUnit = 'ms' } = {}) {
    const plans = mappings.map((mapping, i) => numbered(i, () => planOf(mapping, timeUnit)))
    this.filters = [...new Set(plans.map(({ filter }) => filter))]
    this.#placeOf = placeFinder(plans, defaultPlan(timeUnit))
    this.#timeUnit = timeUnit
  }

  /** The mapping that decides, by its place in the list; -1: none. @param {string} topic */
  find (topic) {
    return this.#placeOf(topic).index
  }

  /**
   * The batches of an MQTT message. An empty one, by which a retained one is deleted, and a bare null are nothing where a mapping matches.
   * Never throws for what is in the bytes.
   * @param {Uint8Array} bytes
   * @param {{topic: string, contentType?: string, now?: () => bigint}} options
   * @returns {Content}
   */
  decode (bytes, { topic, contentType, now = nowNs }) {
    return this.#decode(bytes, this.#placeOf(topic), { contentType, now })
  }

  /**
   * The batches of a Node-RED message whose topic matches a mapping; null where none does, or the message says otherwise what it is.
   * @param {Message} message
   * @param {{source?: string, now?: () => bigint}} [options]  `source`: where the mapping gives none
   * @returns {Content|null}
   */
  take (message, { source, now = nowNs } = {}) {
    const { topic, payload } = message ?? {}
    if (typeof topic !== 'string' || payload instanceof Batch || statesOtherwise(message, now)) return null
    const place = this.#placeOf(topic)
    if (place.index === -1) return null
    const named = source && place.own === undefined && !place.plan.isPerTopic ? { ...place, source } : place
    if (payload instanceof Uint8Array) return this.#decode(payload, named, { now: arrivalOf(message, now) })
    if (typeof payload === 'string') return this.#decode(Buffer.from(payload), named, { now: arrivalOf(message, now) })
    return place.fault ? refusedWhole(place.fault, payload) : convert(message, named, { now })
  }

  /**
   * What another reader made of a message that has names of its own: with the tags and the source of the mapping, if one matches.
   * @param {Content} content @param {string} topic
   */
  adopt (content, topic) {
    const place = this.#placeOf(topic)
    return place.index === -1 ? content : adopt(content, place)
  }

  /** @param {Uint8Array} bytes @param {import('./places.js').Place} place @param {{contentType?: string, now: () => bigint}} options */
  #decode (bytes, place, { contentType, now }) {
    if (place.fault) return refusedWhole(place.fault, bytes)
    if (place.index !== -1 && isNothing(bytes)) return { batches: [], refused: [] }
    const { source, plan, meaning } = place
    if (meaning && isPerhapsShaped(bytes, contentType)) {
      const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      const batch = readShaped(buffer, place.lessons, meaning, { source, now })
      if (batch) return { batches: [batch], refused: [] }
    }
    let isMapped = false
    const content = decodeMessage(bytes, {
      source,
      contentType,
      timeUnit: this.#timeUnit,
      now,
      mapped: {
        convert (message) {
          isMapped = true
          return convert(message, place, { now, bytes })
        },
        isOwn: plan.rows !== null || plan.values !== null,
        lessons: place.lessons,
        meaning
      }
    })
    const isOurs = place.index === -1 && content.batches[0]?.identity != null
    return isMapped || isOurs ? content : adopt(content, place)
  }
}

/** @template T @param {number} index @param {() => T} make */
function numbered (index, make) {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new SluiceError('SLUICE_MAPPING', `Mapping ${index + 1}: ${error.message}.`, { fix: error.fix, details: { mapping: index } })
  }
}

/** A statement, or what the node for another database takes. @param {Message} message @param {() => bigint} now */
function statesOtherwise (message, now) {
  try {
    return message.collection != null || message.operation != null || statementOf(message, now) !== null
  } catch {
    return true
  }
}

/** The time of rows that have none. @param {Message} message @param {() => bigint} now */
function arrivalOf ({ timestamp }, now) {
  return timestamp == null ? now : () => parseTime(timestamp)
}

/** @param {Uint8Array} bytes */
function isNothing (bytes) {
  return bytes.length === 0 || (bytes.length === 4 && Buffer.compare(bytes, NULL) === 0)
}

/** @param {Uint8Array} bytes @param {string} [contentType] */
function isPerhapsShaped (bytes, contentType) {
  const [first] = bytes
  return (first === OPEN_OBJECT || first === OPEN_ARRAY) && bytes.length <= MAX_BYTES && isUtf8(bytes) &&
    (contentType === undefined || contentType.startsWith(JSON_TYPE))
}

/** @param {string} reason @param {unknown} value @returns {Content} */
function refusedWhole (reason, value) {
  return { batches: [], refused: [{ index: -1, reason, value }] }
}
