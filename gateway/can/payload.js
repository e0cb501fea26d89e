import { Batch } from '../batch/batch.js'
import { parseTime } from '../batch/time.js'
import { describe } from '../base/errors.js'
import { LogLines } from './logs/log-lines.js'

/**
 * Frames as other nodes and people write them.
 *
 * @typedef {import('./candump/line.js').Frame} Frame
 * @typedef {{value: unknown, reason: string}} Refusal
 * @typedef {{frame: Frame, ns: bigint|null}} Timed  `ns`: null where it has no time
 */

const MAX_BYTES = 1785
const MAX_CLASSIC_BYTES = 8
/** As cansend takes it, without bus and time: 123#DEADBEEF. */
const CANSEND = /^[0-9A-Fa-f]{3,8}#\S*$/
const HEX_BYTES = /^(?:[0-9A-Fa-f]{2}[\s.]*)*$/
const DECIMAL_BYTES = /^\d{1,3}(?:\s*,\s*\d{1,3})*$/
const MAX_TEXT_CHARACTERS = 6 * MAX_BYTES
const FRAME_FIELDS = ['id', 'extended', 'data']

/**
 * The frames of a payload. It may be lines of a log or of cansend (text or a buffer of it), an object, an array of these, or a batch of
 * frames from can read.
 *
 * An object has `id` (or `canid`) as a number or a text such as "0x123", `data` (or `rawData`) as a buffer, an array of bytes or text
 * ("DEADBEEF", "222,173,190"), and perhaps `extended` (`ext`; by default, if beyond 11 bits), `fd` (`canfd`; by default, if more than 8
 * bytes), `remote` (`rtr`), `error` (`err`), `dlc`, `bus`, and `timestamp` (`time`): nanoseconds as BigInt, a number of seconds,
 * milliseconds or microseconds, told apart by its size, a date, or ISO 8601 text.
 * @param {unknown} payload
 * @returns {{frames: Timed[], refused: Refusal[]}}
 */
export function framesOf (payload) {
  /** @type {Timed[]} */
  const frames = []
  /** @type {Refusal[]} */
  const refused = []
  const parts = payload instanceof Batch ? rowsOf(payload) : Array.isArray(payload) ? payload : [payload]
  for (const part of parts) {
    if (typeof part === 'string') readLines(part, frames, refused)
    else if (part instanceof Uint8Array) readLines(Buffer.from(part).toString('utf8'), frames, refused)
    else {
      const read = readObject(part)
      if ('reason' in read) refused.push({ value: part, reason: read.reason })
      else frames.push(read)
    }
  }
  return { frames, refused }
}

/** @param {string} text @param {Timed[]} frames @param {Refusal[]} refused */
function readLines (text, frames, refused) {
  const log = new LogLines()
  for (const line of text.split('\n')) {
    const frame = log.parse(CANSEND.test(line.trim()) ? `(0.0) can ${line.trim()}` : line)
    if (frame === null) continue
    if ('reason' in frame) refused.push({ value: line, reason: frame.reason })
    else frames.push({ frame, ns: frame.stamp?.absolute ? frame.stamp.ns : null })
  }
}

/** @param {any} value @returns {Timed|{reason: string}} */
function readObject (value) {
  if (typeof value !== 'object' || value === null) return { reason: `${value == null ? value : `a ${typeof value}`} is not a frame` }
  const id = idOf(value.id ?? value.canid)
  if (id === undefined) return { reason: 'it has no id' }
  const extended = Boolean(value.extended ?? value.ext ?? id > 0x7FF)
  if (id > (extended ? 0x1FFFFFFF : 0x7FF)) return { reason: `the id ${id} exceeds ${extended ? 29 : 11} bits` }
  const bytes = bytesOf(value.data ?? value.rawData)
  if (typeof bytes === 'string') return { reason: bytes }
  const data = Number.isInteger(value.dlc) && value.dlc >= 0 && value.dlc < bytes.length ? bytes.subarray(0, value.dlc) : bytes
  const time = timeOf(value)
  if (typeof time === 'string') return { reason: time }
  const bus = typeof value.bus === 'string' && value.bus !== '' ? value.bus.slice(0, 100) : 'can'
  const fd = Boolean(value.fd ?? value.canfd ?? data.length > MAX_CLASSIC_BYTES)
  /** @type {Frame} */
  const frame = { stamp: null, bus, id, extended, kind: kindOf(value), fd, data }
  return { frame: !fd && data.length > MAX_CLASSIC_BYTES ? { ...frame, isWhole: true } : frame, ns: time }
}

/** @param {any} value @returns {Frame['kind']} */
function kindOf ({ kind, error, err, remote, rtr }) {
  if (error || err || kind === 'error') return 'error'
  return remote || rtr || kind === 'remote' ? 'remote' : 'data'
}

/** @param {unknown} value @returns {number|undefined} */
function idOf (value) {
  const id = typeof value === 'string' && /^0x[0-9a-f]{1,8}$/i.test(value) ? Number(value) : value
  return typeof id === 'number' && Number.isInteger(id) && id >= 0 ? id : undefined
}

/** @param {any} value @returns {Uint8Array|string} what is wrong, as text */
function bytesOf (value) {
  if (value === undefined || value === null || value === '') return new Uint8Array(0)
  if (value instanceof Uint8Array) return value.length <= MAX_BYTES ? value : `${value.length} data bytes`
  if (typeof value === 'string') return bytesOfText(value)
  const list = value.type === 'Buffer' ? value.data : value // a buffer that has been JSON
  if (!isByteList(list)) return 'its data is not bytes'
  return list.length <= MAX_BYTES ? Uint8Array.from(list) : `${list.length} data bytes`
}

/** @param {string} text @returns {Uint8Array|string} */
function bytesOfText (text) {
  if (text.length > MAX_TEXT_CHARACTERS) return 'its data is too long'
  if (HEX_BYTES.test(text)) return Uint8Array.from(text.match(/[0-9A-Fa-f]{2}/g) ?? [], byte => parseInt(byte, 16))
  const list = DECIMAL_BYTES.test(text) ? text.split(',').map(Number) : null
  return isByteList(list) ? Uint8Array.from(list) : 'its data is not bytes'
}

/** @param {any} value */
function timeOf ({ timestamp, time, ts_sec: seconds, ts_usec: microseconds = 0 }) {
  const hasSeconds = Number.isInteger(seconds) && Number.isInteger(microseconds)
  const value = timestamp ?? time ?? (hasSeconds ? BigInt(seconds) * 1_000_000_000n + BigInt(microseconds) * 1000n : undefined)
  if (value === undefined) return null
  try {
    return parseTime(value, typeof value === 'number' ? unitOf(value) : 'ms')
  } catch (error) {
    return describe(error)
  }
}

/** Of a number of this millennium. @param {number} value */
function unitOf (value) {
  return value < 1e11 ? 's' : value < 1e14 ? 'ms' : 'us'
}

/** @param {Batch} batch  of frames */
function rowsOf (batch) {
  const fields = new Set(batch.fields.map(({ name }) => name))
  if (!FRAME_FIELDS.every(name => fields.has(name))) return [undefined]
  return batch.toObjects().map(row => ({ ...row, bus: batch.tags.bus }))
}

/** @param {unknown} value @returns {value is number[]} */
function isByteList (value) {
  return Array.isArray(value) && value.every(byte => Number.isInteger(byte) && byte >= 0 && byte <= 255)
}
