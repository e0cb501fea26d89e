import { int64Writer, NUMBER_BYTES, putFloat, putInteger } from '../../messages/codecs/line-protocol/numbers.js'
import { constantOf, valuesOf } from '../wide.js'
import { ISO_BYTES, isoWriter } from './iso-time.js'

/**
 * Writes the cells of one column.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').WideColumn} WideColumn
 *
 * @typedef {object} CellWriter
 * @property {(buffer: Buffer, at: number, row: number) => number} write  returns where the cell ends
 * @property {number} fixedBytes  the most that it takes, without its varying bytes
 * @property {(row: number) => number} [varyingBytes]  the most that the value at a row adds
 */

const QUOTE = 0x22
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

/** Longer texts are written by the platform. */
const SHORT_TEXT = 32

/**
 * @param {WideColumn|undefined} column  undefined where the batch has none
 * @param {Batch} batch
 * @param {'iso'|'ns'} timeFormat
 * @returns {CellWriter}
 */
export function csvCell (column, batch, timeFormat) {
  if (!column) return { fixedBytes: 0, write: (_buffer, at) => at }
  if (column.origin === 'time') {
    return timeFormat === 'iso' ? { fixedBytes: ISO_BYTES, write: isoWriter(batch.time) } : number(int64Writer(batch.time))
  }
  const text = constantOf(column, batch)
  if (text !== undefined) return constant(textCell(text))
  const { type, values, valid } = valuesOf(column, batch)
  const writer = valueWriter(type, values)
  return valid ? withGaps(valid, writer) : writer
}

/** A text between quotes. @param {string} text */
export function textCell (text) {
  return `"${text.replaceAll('"', '""')}"`
}

/** @param {import('../../batch/batch.js').FieldType} type @param {any} column @returns {CellWriter} */
function valueWriter (type, column) {
  switch (type) {
    case 'float64':
    case 'float32': return number((buffer, at, row) => {
      const value = column[row]
      return Number.isFinite(value) ? putFloat(buffer, at, value) : at + buffer.write(String(value), at, 'latin1')
    })
    case 'int64': return number(int64Writer(column))
    case 'bool': return { fixedBytes: FALSE.length, write: (buffer, at, row) => at + (column[row] === 0 ? FALSE : TRUE).copy(buffer, at) }
    case 'string': return {
      fixedBytes: 2,
      varyingBytes: row => 3 * column[row].length,
      write: (buffer, at, row) => putText(buffer, at, column[row])
    }
    case 'bytes': return {
      fixedBytes: 2,
      varyingBytes: row => 2 * column[row].length,
      write: (buffer, at, row) => putHex(buffer, at, column[row])
    }
    default: return number((buffer, at, row) => putInteger(buffer, at, column[row]))
  }
}

/** @param {CellWriter['write']} write @returns {CellWriter} */
function number (write) {
  return { fixedBytes: NUMBER_BYTES, write }
}

/** @param {Uint8Array} valid @param {CellWriter} writer @returns {CellWriter} */
function withGaps (valid, { write, fixedBytes, varyingBytes }) {
  return {
    fixedBytes,
    varyingBytes: varyingBytes && (row => valid[row] === 0 ? 0 : varyingBytes(row)),
    write: (buffer, at, row) => valid[row] === 0 ? at : write(buffer, at, row)
  }
}

/** @param {string} text @returns {CellWriter} */
function constant (text) {
  const encoded = Buffer.from(text)
  return { fixedBytes: encoded.length, write: (buffer, at) => at + encoded.copy(buffer, at) }
}

/**
 * @param {Buffer} buffer
 * @param {number} at
 * @param {string} text  of which each UTF-16 unit takes at most three bytes, and one that is doubled two
 */
function putText (buffer, at, text) {
  buffer[at++] = QUOTE
  if (text.length > SHORT_TEXT) return putLongText(buffer, at, text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80 || code === QUOTE) return putLongText(buffer, at, text)
    buffer[at + i] = code
  }
  buffer[at + text.length] = QUOTE
  return at + text.length + 1
}

/** @param {Buffer} buffer @param {number} at  after the quote @param {string} text */
function putLongText (buffer, at, text) {
  at += buffer.write(text.replaceAll('"', '""'), at)
  buffer[at] = QUOTE
  return at + 1
}

/** @param {Buffer} buffer @param {number} at @param {Uint8Array} bytes */
function putHex (buffer, at, bytes) {
  buffer[at++] = QUOTE
  at += buffer.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex'), at, 'latin1')
  buffer[at] = QUOTE
  return at + 1
}
