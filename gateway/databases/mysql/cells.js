import { constantOf, valuesOf } from '../wide.js'
import { INT64_BYTES, int64Writer, splitter, writeNine, writeWhole } from './decimal.js'

/**
 * Writes the cells of one column as LOAD DATA reads them: text, `\N` for NULL, a backslash before tab, newline and backslash.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {(buffer: Buffer, at: number, row: number) => number} WriteCell  returns where the cell ends
 *
 * @typedef {object} CellWriter
 * @property {WriteCell} write
 * @property {number} fixedBytes  the most that a cell takes, without its varying bytes
 * @property {(row: number) => number} [varyingBytes]  the most that the value at a row adds
 */

const NULL_BYTES = 2
const BACKSLASH = 92
const LETTER_N = 78
const DOT = 46

/** The most that JavaScript's shortest text of a double takes. */
const DOUBLE_BYTES = 25
const DATETIME_BYTES = 26

/** @param {PlacedColumn} column @param {Batch} batch @returns {CellWriter} */
export function cellWriter (column, batch) {
  const { type } = column
  if (type === 'time') return { fixedBytes: DATETIME_BYTES, write: datetime(batch.time) }
  if (type === 'time_ns') return { fixedBytes: INT64_BYTES, write: int64Writer(batch.time) }
  const same = constantOf(column, batch)
  if (same !== undefined) return constant(same)
  const { type: fieldType, values, valid } = valuesOf(column, batch)
  const writer = valueWriter(fieldType, values)
  return valid ? withGaps(valid, writer) : writer
}

/** @param {import('../../batch/batch.js').FieldType} type @param {any} column @returns {CellWriter} */
function valueWriter (type, column) {
  switch (type) {
    case 'float64':
    case 'float32': return { fixedBytes: DOUBLE_BYTES, write: double(column) }
    case 'int64': return { fixedBytes: INT64_BYTES, write: int64Writer(column) }
    case 'string': return text(column)
    case 'bytes': return hexadecimal(column)
    default: return { fixedBytes: INT64_BYTES, write: (buffer, at, row) => writeWhole(buffer, at, column[row]) }
  }
}

/** @param {Buffer} buffer @param {number} at */
function writeNull (buffer, at) {
  buffer[at] = BACKSLASH
  buffer[at + 1] = LETTER_N
  return at + 2
}

/** @param {Uint8Array} valid @param {CellWriter} writer @returns {CellWriter} */
function withGaps (valid, { write, fixedBytes, varyingBytes }) {
  return {
    fixedBytes: Math.max(fixedBytes, NULL_BYTES),
    varyingBytes: varyingBytes && (row => valid[row] === 0 ? 0 : varyingBytes(row)),
    write: (buffer, at, row) => valid[row] === 0 ? writeNull(buffer, at) : write(buffer, at, row)
  }
}

/** NaN as NULL, which is all there is for it. @param {Float64Array|Float32Array} column @returns {WriteCell} */
function double (column) {
  return (buffer, at, row) => {
    const value = column[row]
    if (value === (value | 0)) return writeWhole(buffer, at, value | 0)
    if (Number.isNaN(value)) return writeNull(buffer, at)
    // Shorter than what calling the buffer's own method costs.
    const digits = String(value)
    for (let i = 0; i < digits.length; i++) buffer[at + i] = digits.charCodeAt(i)
    return at + digits.length
  }
}

const UNESCAPED = /^[^\\\t\n]*$/

/** @param {string} value */
function escaped (value) {
  return UNESCAPED.test(value) ? value : value.replace(/[\\\t\n]/g, '\\$&')
}

/** @param {string} value @returns {CellWriter} */
function constant (value) {
  const encoded = Buffer.from(escaped(value))
  return {
    fixedBytes: encoded.length,
    write (buffer, at) {
      for (let i = 0; i < encoded.length; i++) buffer[at + i] = encoded[i]
      return at + encoded.length
    }
  }
}

/** @param {string[]} column @returns {CellWriter} */
function text (column) {
  return {
    fixedBytes: 0,
    varyingBytes: row => 3 * column[row].length,
    write: (buffer, at, row) => at + buffer.write(escaped(column[row]), at)
  }
}

/**
 * Bytes as hexadecimal digits, which the server decodes: as they are, they could pass for badly encoded text.
 * @param {Uint8Array[]} column
 * @returns {CellWriter}
 */
function hexadecimal (column) {
  return {
    fixedBytes: 0,
    varyingBytes: row => 2 * column[row].length,
    write (buffer, at, row) {
      const { buffer: memory, byteOffset, length } = column[row]
      return at + buffer.write(Buffer.from(memory, byteOffset, length).toString('hex'), at, 'latin1')
    }
  }
}

/** Date and time in UTC, rounded down to microseconds. @param {BigInt64Array} time @returns {WriteCell} */
function datetime (time) {
  const splitRow = splitter(time)
  const split = { billions: 0, rest: 0 }
  let second = NaN
  let shown = ''
  return (buffer, at, row) => {
    splitRow(row, split)
    if (split.billions !== second) {
      second = split.billions
      shown = new Date(second * 1000).toISOString().slice(0, 19).replace('T', ' ')
    }
    for (let i = 0; i < 19; i++) buffer[at + i] = shown.charCodeAt(i)
    buffer[at + 19] = DOT
    return writeNine(buffer, at + 20, split.rest) - 3
  }
}
