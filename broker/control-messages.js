import { SluiceError } from '../gateway/base/errors.js'
import { isName } from '../gateway/batch/names.js'

/**
 * The control messages of the staging protocol (docs/protocol.md), read with suspicion: anybody on the broker may have written them. What
 * is impossible, or more than a spool or a reader could mean, is refused as a whole; the next message is a whole state again.
 *
 * @typedef {[first: number, last: number]} Range
 * @typedef {[first: number, last: number, hash: number]} SummedRange
 * @typedef {[processStartMs: number, count: number]} ReadingNumber  later ones of a process have a larger count
 * @typedef {{store: string, label: string, reading?: ReadingNumber, sources: Record<string, Record<string, SummedRange[]>>}} Commit
 * @typedef {Record<string, Record<string, Range[]>>} RangesBySource
 * @typedef {{sources: RangesBySource, undelivered: Record<string, Record<string, number[]>>}} Resend
 * @typedef {{sink: string, label: string, committed: boolean}} ListedSink
 * @typedef {{gateway: string, source: string, member?: [member: number, members: number], sinks: ListedSink[]}} SinkList
 */

export const MAX_CONTROL_BYTES = 2 ** 20
export const MAX_CONTROL_SOURCES = 1000
export const MAX_CONTROL_EPOCHS = 64
export const MAX_CONTROL_RANGES = 1000
export const MAX_LISTED_SINKS = 100
/** Of sources, sinks, epochs, in characters. */
export const MAX_NAME = 256
const MAX_HASH = 2 ** 48

/** @param {Buffer} payload @returns {Commit} */
export function readCommit (payload) {
  const { store, label, reading, sources } = objectOf(payload)
  if (reading !== undefined && !isReading(reading)) throw refused(`${short(reading)} does not number a reading`)
  return {
    store: nameOf(store, 'store'),
    label: labelOf(label),
    ...reading && { reading },
    sources: bySource(sources, ranges => ranges.map(range => {
      const [first, last] = rangeOf(range)
      const hash = range[2]
      if (!isCount(hash) || hash >= MAX_HASH) throw refused('a sum of hashes is not one')
      return /** @type {SummedRange} */ ([first, last, hash])
    }))
  }
}

/** @param {Buffer} payload @returns {Resend} */
export function readResend (payload) {
  const { sources = {}, undelivered = {} } = objectOf(payload)
  return {
    sources: bySource(sources, ranges => ranges.map(rangeOf)),
    undelivered: bySource(undelivered, seqs => seqs.map(seq => {
      if (!isCount(seq)) throw refused(`${short(seq)} is not a seq`)
      return seq
    }))
  }
}

/** @param {Buffer} payload @returns {SinkList|null} null: the reader is gone */
export function readSinks (payload) {
  if (payload.length === 0) return null
  const { gateway, source, member, sinks } = objectOf(payload)
  if (!Array.isArray(sinks) || sinks.length > MAX_LISTED_SINKS) throw refused(`its sinks are not a list of at most ${MAX_LISTED_SINKS}`)
  return {
    gateway: nameOf(gateway, 'gateway'),
    source: nameOf(source, 'source'),
    ...isPlace(member) && { member },
    sinks: sinks.map(each => ({ sink: nameOf(each?.sink, 'sink'), label: labelOf(each?.label), committed: each?.committed === true }))
  }
}

/** @param {unknown} place @returns {place is [member: number, members: number]} */
function isPlace (place) {
  return Array.isArray(place) && place.length === 2 && place.every(number => isCount(number) && number > 0)
}

/** @param {Buffer} payload @returns {Record<string, any>} */
export function objectOf (payload) {
  if (payload.length > MAX_CONTROL_BYTES) throw refused(`it has ${payload.length} bytes`)
  let object
  try {
    object = JSON.parse(payload.toString())
  } catch {
    throw refused('it is not JSON')
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw refused('it is not an object')
  return object
}

/**
 * @template T
 * @param {unknown} sources  source → epoch → ranges
 * @param {(ranges: any[]) => T[]} read
 * @returns {Record<string, Record<string, T[]>>} without prototypes: a source may be called `constructor`
 */
function bySource (sources, read) {
  return mapped(sources, MAX_CONTROL_SOURCES, epochs => mapped(epochs, MAX_CONTROL_EPOCHS, ranges => {
    if (!Array.isArray(ranges) || ranges.length > MAX_CONTROL_RANGES) throw refused(`an epoch has not at most ${MAX_CONTROL_RANGES} ranges`)
    const result = read(ranges)
    for (let i = 1; i < ranges.length; i++) {
      if (startOf(ranges[i]) <= endOf(ranges[i - 1])) throw refused('its ranges overlap or are not in order')
    }
    return result
  }))
}

/** @param {Range|number} range */
function startOf (range) { return typeof range === 'number' ? range : range[0] }

/** @param {Range|number} range */
function endOf (range) { return typeof range === 'number' ? range : range[1] }

/**
 * @template T
 * @param {unknown} object
 * @param {number} max  of its keys
 * @param {(value: any) => T} read
 * @returns {Record<string, T>}
 */
function mapped (object, max, read) {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) throw refused(`${short(object)} is not an object`)
  const keys = Object.keys(object)
  if (keys.length > max) throw refused(`it has ${keys.length} sources or epochs where ${max} may be`)
  const result = Object.create(null)
  for (const key of keys) result[nameOf(key, 'source or epoch')] = read(/** @type {any} */ (object)[key])
  return result
}

/** @param {unknown} range @returns {Range} */
export function rangeOf (range) {
  const [first, last] = Array.isArray(range) ? range : []
  if (!isCount(first) || !isCount(last) || first > last) throw refused(`${short(range)} is not a range`)
  return [first, last]
}

/** @param {unknown} value @returns {value is number} */
export function isCount (value) {
  return Number.isSafeInteger(value) && /** @type {number} */ (value) >= 0
}

/** @param {unknown} value @returns {value is ReadingNumber} */
function isReading (value) {
  return Array.isArray(value) && value.length === 2 && value.every(isCount)
}

/** @param {unknown} name @param {string} what */
function nameOf (name, what) {
  if (typeof name !== 'string' || !isName(name) || name.length > MAX_NAME) throw refused(`${short(name)} is not the name of a ${what}`)
  return name
}

/** What people read, and nothing depends on. @param {unknown} label */
function labelOf (label) {
  return typeof label === 'string' ? label.slice(0, MAX_NAME) : ''
}

/** @param {string} why */
export function refused (why) {
  return new SluiceError('SLUICE_PROTOCOL', `The control message was ignored: ${why}.`)
}

/** As JSON: others may have chosen it. @param {unknown} value */
export function short (value) {
  return String(JSON.stringify(value)).slice(0, 40)
}
