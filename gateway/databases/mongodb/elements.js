import { BSON } from 'mongodb'

/**
 * Writes elements of documents as BSON: a type, the key, NUL, and the value, little-endian.
 *
 * @typedef {import('../../batch/batch.js').FieldType} FieldType
 *
 * @typedef {object} Chunk  a piece of memory to write to
 * @property {Buffer} buffer
 * @property {DataView} view  of the same memory
 *
 * @typedef {object} ElementWriter
 * @property {(chunk: Chunk, at: number, row: number) => number} write  returns where the next element starts
 * @property {(row: number) => number} mostBytes  that it takes at a row
 */

export const TYPES = Object.freeze({
  double: 0x01,
  string: 0x02,
  document: 0x03,
  array: 0x04,
  binary: 0x05,
  bool: 0x08,
  date: 0x09,
  null: 0x0a,
  int32: 0x10,
  int64: 0x12
})

// Typed arrays hold the two halves of an int64 in the machine's own order.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

const TWO_32 = 2 ** 32
const NANOSECONDS = 1_000_000

/** Up to here it is faster to assume the most bytes that UTF-8 can need. */
const SHORT_TEXT = 1024

/** @param {number} type @param {string} key */
export function header (type, key) {
  return Buffer.concat([Buffer.of(type), Buffer.from(key), Buffer.of(0)])
}

/** Elements that do not vary, for putting into a document. @param {Map<string, unknown>} values */
export function constantElements (values) {
  return Buffer.from(BSON.serialize(/** @type {any} */ (values)).subarray(4, -1))
}

/**
 * @param {string} key
 * @param {FieldType} type
 * @param {any} column
 * @param {Uint8Array|null} valid
 * @param {{nullIfMissing?: boolean, before?: Uint8Array}} [options]  what is missing is left out otherwise; `before`: elements before it
 * @returns {ElementWriter}
 */
export function elementWriter (key, type, column, valid, { nullIfMissing = false, before = new Uint8Array(0) } = {}) {
  const value = valueWriter(type, column)
  const head = Buffer.concat([before, header(value.type, key)])
  const missing = nullIfMissing ? header(TYPES.null, key) : new Uint8Array(0)
  const { put, bytes: valueBytes } = value
  if (!valid) {
    return {
      mostBytes: typeof valueBytes === 'number' ? () => head.length + valueBytes : row => head.length + valueBytes(row),
      write (chunk, at, row) {
        chunk.buffer.set(head, at)
        return put(chunk, at + head.length, row)
      }
    }
  }
  return {
    mostBytes: row => valid[row] === 0 ? missing.length : head.length + (typeof valueBytes === 'number' ? valueBytes : valueBytes(row)),
    write (chunk, at, row) {
      const start = valid[row] === 0 ? missing : head
      chunk.buffer.set(start, at)
      return valid[row] === 0 ? at + start.length : put(chunk, at + start.length, row)
    }
  }
}

/**
 * @typedef {(chunk: Chunk, at: number, row: number) => number} Put
 * @param {FieldType} type @param {any} column
 * @returns {{type: number, bytes: number|((row: number) => number), put: Put}}
 */
function valueWriter (type, column) {
  switch (type) {
    case 'float64':
    case 'float32': return {
      type: TYPES.double, bytes: 8, put: ({ view }, at, row) => { view.setFloat64(at, column[row], true); return at + 8 }
    }
    case 'int64': return { type: TYPES.int64, bytes: 8, put: int64(column) }
    case 'bool': return { type: TYPES.bool, bytes: 1, put: ({ view }, at, row) => { view.setUint8(at, column[row]); return at + 1 } }
    case 'string': return { type: TYPES.string, bytes: row => 5 + textBytes(column[row]), put: text(column) }
    case 'bytes': return { type: TYPES.binary, bytes: row => 5 + column[row].length, put: bytes(column) }
    default: return { type: TYPES.int32, bytes: 4, put: ({ view }, at, row) => { view.setInt32(at, column[row], true); return at + 4 } }
  }
}

/** @param {BigInt64Array} column @returns {Put} */
export function int64 (column) {
  const halves = new Uint32Array(column.buffer, column.byteOffset, column.length * 2)
  return ({ view }, at, row) => {
    view.setUint32(at, halves[2 * row + LOW], true)
    view.setUint32(at + 4, halves[2 * row + HIGH], true)
    return at + 8
  }
}

/**
 * Nanoseconds to milliseconds, rounded down; in halves, as BigInt arithmetic would cost ten times as much.
 * @param {BigInt64Array} time
 * @returns {Put}
 */
export function milliseconds (time) {
  const low = new Uint32Array(time.buffer, time.byteOffset, time.length * 2)
  const high = new Int32Array(time.buffer, time.byteOffset, time.length * 2)
  return ({ view }, at, row) => {
    const ns = high[2 * row + HIGH]
    const quotient = Math.floor(ns / NANOSECONDS)
    view.setUint32(at, Math.floor(((ns - quotient * NANOSECONDS) * TWO_32 + low[2 * row + LOW]) / NANOSECONDS), true)
    view.setInt32(at + 4, quotient, true)
    return at + 8
  }
}

/** @param {string[]} column @returns {Put} */
function text (column) {
  return ({ buffer, view }, at, row) => {
    const length = buffer.write(column[row], at + 4)
    view.setInt32(at, length + 1, true)
    buffer[at + 4 + length] = 0
    return at + 5 + length
  }
}

/** @param {string} value */
function textBytes (value) {
  return value.length < SHORT_TEXT ? 3 * value.length : Buffer.byteLength(value)
}

/** @param {Uint8Array[]} column @returns {Put} */
function bytes (column) {
  return ({ buffer, view }, at, row) => {
    const value = column[row]
    view.setInt32(at, value.length, true)
    buffer[at + 4] = 0 // the generic subtype
    buffer.set(value, at + 5)
    return at + 5 + value.length
  }
}
