import { constantOf, valuesOf } from '../wide.js'

/**
 * Writes the cells of one column in PostgreSQL's binary format: a 4-byte length (-1 for NULL) and the value, big-endian.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 *
 * @typedef {object} Chunk  a piece of memory to write to
 * @property {Buffer} buffer
 * @property {DataView} view  of the same memory
 *
 * @typedef {(chunk: Chunk, at: number, row: number) => number} WriteCell  returns where the next cell starts
 *
 * @typedef {object} CellWriter
 * @property {WriteCell} write
 * @property {number} fixedBytes  the most that a cell takes, without its varying bytes
 * @property {(row: number) => number} [varyingBytes]  the most that the value at a row adds
 */

const NULL = -1

/** What comes before the text of a jsonb. */
const JSONB_VERSION = Buffer.of(1)

// Typed arrays hold the two halves of an int64 in the machine's own order.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

/** @param {PlacedColumn} column @param {Batch} batch @returns {CellWriter} */
export function cellWriter (column, batch) {
  const { type, kind } = column
  if (type === 'time') return fixed(8, microseconds(batch.time))
  if (type === 'time_ns') return fixed(8, int64(batch.time))
  const constant = constantOf(column, batch)
  if (constant !== undefined) return constantText(constant)
  const { values, valid } = valuesOf(column, batch)
  const writer = valueWriter(kind, values)
  return valid ? withGaps(valid, writer) : writer
}

/** @param {string} kind  of the table's column @param {any} column @returns {CellWriter} */
function valueWriter (kind, column) {
  switch (kind) {
    case 'float8': return fixed(8, ({ view }, at, row) => view.setFloat64(at, column[row]))
    case 'float4': return fixed(4, ({ view }, at, row) => view.setFloat32(at, column[row]))
    case 'int8':
      if (column instanceof BigInt64Array) return fixed(8, int64(column))
      return fixed(8, ({ view }, at, row) => view.setBigInt64(at, BigInt(column[row])))
    case 'int4': return fixed(4, ({ view }, at, row) => view.setInt32(at, column[row]))
    case 'int2': return fixed(2, ({ view }, at, row) => view.setInt16(at, column[row]))
    case 'bool': return fixed(1, ({ view }, at, row) => view.setUint8(at, column[row]))
    case 'bytea': return bytes(column)
    case 'jsonb': return text(column, JSONB_VERSION)
    default: return text(column)
  }
}

/**
 * @param {number} width  of a value in bytes
 * @param {(chunk: Chunk, at: number, row: number) => void} put
 * @returns {CellWriter}
 */
function fixed (width, put) {
  return {
    fixedBytes: 4 + width,
    write (chunk, at, row) {
      chunk.view.setInt32(at, width)
      put(chunk, at + 4, row)
      return at + 4 + width
    }
  }
}

/** @param {Uint8Array} valid @param {CellWriter} writer @returns {CellWriter} */
function withGaps (valid, { write, fixedBytes, varyingBytes }) {
  return {
    fixedBytes,
    varyingBytes: varyingBytes && (row => valid[row] === 0 ? 0 : varyingBytes(row)),
    write (chunk, at, row) {
      if (valid[row] !== 0) return write(chunk, at, row)
      chunk.view.setInt32(at, NULL)
      return at + 4
    }
  }
}

/** @param {BigInt64Array} column */
function int64 (column) {
  const halves = new Uint32Array(column.buffer, column.byteOffset, column.length * 2)
  return (/** @type {Chunk} */ { view }, /** @type {number} */ at, /** @type {number} */ row) => {
    view.setUint32(at, halves[2 * row + HIGH])
    view.setUint32(at + 4, halves[2 * row + LOW])
  }
}

const TWO_32 = 2 ** 32
const NANOSECONDS = 1000
// 2000-01-01, where PostgreSQL counts from, in microseconds since 1970.
const EPOCH = 946_684_800_000_000
const EPOCH_HIGH = Math.floor(EPOCH / TWO_32)
const EPOCH_LOW = EPOCH % TWO_32

/**
 * Nanoseconds since 1970 to microseconds since 2000, rounded down; in halves, as BigInt arithmetic would cost ten times as much.
 * @param {BigInt64Array} time
 */
function microseconds (time) {
  const low = new Uint32Array(time.buffer, time.byteOffset, time.length * 2)
  const high = new Int32Array(time.buffer, time.byteOffset, time.length * 2)
  return (/** @type {Chunk} */ { view }, /** @type {number} */ at, /** @type {number} */ row) => {
    const ns = high[2 * row + HIGH]
    const quotient = Math.floor(ns / NANOSECONDS)
    const rest = (ns - quotient * NANOSECONDS) * TWO_32 + low[2 * row + LOW]
    const difference = Math.floor(rest / NANOSECONDS) - EPOCH_LOW
    view.setInt32(at, quotient - EPOCH_HIGH - (difference < 0 ? 1 : 0))
    view.setUint32(at + 4, difference)
  }
}

/** @param {string} value @returns {CellWriter} */
function constantText (value) {
  const encoded = Buffer.from(value)
  return {
    fixedBytes: 4 + encoded.length,
    write: ({ buffer, view }, at) => putBytes(buffer, view, at, encoded)
  }
}

/** @param {Uint8Array[]} column @returns {CellWriter} */
function bytes (column) {
  return {
    fixedBytes: 4,
    varyingBytes: row => column[row].length,
    write: ({ buffer, view }, at, row) => putBytes(buffer, view, at, column[row])
  }
}

/** @param {Buffer} buffer @param {DataView} view @param {number} at @param {Uint8Array} value */
function putBytes (buffer, view, at, value) {
  view.setInt32(at, value.length)
  buffer.set(value, at + 4)
  return at + 4 + value.length
}

/** @param {string[]} column @param {Uint8Array} [before]  bytes before each text @returns {CellWriter} */
function text (column, before = new Uint8Array(0)) {
  return {
    fixedBytes: 4 + before.length,
    varyingBytes: row => 3 * column[row].length,
    write ({ buffer, view }, at, row) {
      buffer.set(before, at + 4)
      const length = before.length + buffer.write(column[row], at + 4 + before.length)
      view.setInt32(at, length)
      return at + 4 + length
    }
  }
}
