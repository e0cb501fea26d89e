import { keyText, tagText } from './names.js'
import { int64Writer, NUMBER_BYTES, putFloat, putInteger } from './numbers.js'

/**
 * Writes one tag or field of a line.
 *
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {import('./kinds.js').FieldKind} FieldKind
 *
 * @typedef {object} CellWriter
 * @property {(buffer: Buffer, at: number, row: number) => number} write  returns where the next one starts
 * @property {Buffer} [bytes]  what it writes for every row, of a constant
 * @property {number} fixedBytes  the most it takes, without its varying bytes
 * @property {(row: number) => number} [varyingBytes]  the most that the value at a row adds
 */

const COMMA = 0x2c
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const INTEGER_MARK = 'i'.charCodeAt(0)
const [TRUE, FALSE] = Buffer.from('tf')
const [ONE, ZERO] = Buffer.from('10')
const BINARY_FLOAT64 = Buffer.of('='.charCodeAt(0), 16)

/** Longer ones are written by Buffer. */
const SHORT_TEXT = 32
const SHORT_NAME = 12

/** `,key=` and the value of a tag. @param {string} name @param {string} value @returns {CellWriter|null} null of an empty one */
export function constantTag (name, value) {
  if (value === '') return null
  return constant(Buffer.from(`,${keyText(name)}=${tagText(name, value)}`))
}

/** A tag with the values of a field. @param {string} name @param {Batch} batch @param {number} field @returns {CellWriter} */
export function fieldTag (name, { fields, columns, validity }, field) {
  return columnTag(name, fields[field].type, columns[field], validity[field])
}

/**
 * A tag with a value for each row.
 * @param {string} name @param {import('../../../batch/batch.js').FieldType} type @param {import('../../../batch/batch.js').Column} column
 * @param {Uint8Array|null} valid
 * @returns {CellWriter}
 */
export function columnTag (name, type, column, valid) {
  /** @type {Map<unknown, Buffer>} */
  const known = new Map()
  const textAt = (/** @type {number} */ row) => {
    if (valid && valid[row] === 0) return NOTHING
    const value = column[row]
    let encoded = known.get(value)
    if (!encoded) {
      const tag = plainText(type, value)
      known.set(value, encoded = tag === '' ? NOTHING : Buffer.from(`,${keyText(name)}=${tagText(name, tag)}`))
    }
    return encoded
  }
  return { fixedBytes: 0, varyingBytes: row => textAt(row).length, write: (buffer, at, row) => put(buffer, at, textAt(row)) }
}

/** A tag with a number, left out where that is 0. @param {string} name @param {Int32Array} numbers @returns {CellWriter} */
export function numberTag (name, numbers) {
  const key = Buffer.from(`,${keyText(name)}=`)
  return {
    fixedBytes: key.length + NUMBER_BYTES,
    write: (buffer, at, row) => numbers[row] === 0 ? at : putInteger(buffer, put(buffer, at, key), numbers[row])
  }
}

/**
 * `key=`, the value and a comma.
 * @param {string} name
 * @param {FieldKind} kind
 * @param {Batch} batch
 * @param {number} field
 * @returns {CellWriter}
 */
export function fieldCell (name, kind, batch, field) {
  const { type } = batch.fields[field]
  const key = Buffer.from(`${keyText(name)}=`)
  const column = /** @type {any} */ (batch.columns[field])
  const valid = batch.validity[field]
  const { write, fixedBytes, varyingBytes } = valueWriter(type, kind, column)
  const isFloat = type === 'float64' || type === 'float32'
  const isWhole = valid === null && !isFloat
  return {
    fixedBytes: key.length + fixedBytes + 1,
    varyingBytes: varyingBytes && valid ? row => valid[row] === 0 ? 0 : varyingBytes(row) : varyingBytes,
    write (buffer, at, row) {
      if (!isWhole && (valid?.[row] === 0 || (isFloat && !Number.isFinite(column[row])))) return at
      at = write(buffer, put(buffer, at, key), row)
      buffer[at] = COMMA
      return at + 1
    }
  }
}

/** @param {Buffer} bytes @returns {CellWriter} */
export function constant (bytes) {
  return { bytes, fixedBytes: bytes.length, write: (buffer, at) => put(buffer, at, bytes) }
}

const NOTHING = Buffer.alloc(0)

/** @param {FieldType} type @param {FieldKind} kind @param {any} column @returns {CellWriter} */
function valueWriter (type, kind, column) {
  if (kind === 'binary') return binary(column)
  switch (type) {
    case 'float64':
    case 'float32': return number((buffer, at, row) => putFloat(buffer, at, column[row]))
    case 'int64': return marked(int64Writer(column))
    case 'bool': return kind === 'boolean' ? letter(column, TRUE, FALSE) : letter(column, ONE, ZERO)
    case 'string': return text(column, kind === 'text' ? /["\\\n]/g : /["\\]/g)
    case 'bytes': return base64(column)
    default: {
      /** @type {CellWriter['write']} */
      const write = (buffer, at, row) => putInteger(buffer, at, column[row])
      return kind === 'integer' ? marked(write) : number(write)
    }
  }
}

/** @param {CellWriter['write']} write @returns {CellWriter} */
function number (write) {
  return { fixedBytes: NUMBER_BYTES, write }
}

/** @param {CellWriter['write']} write @returns {CellWriter} */
function marked (write) {
  return {
    fixedBytes: NUMBER_BYTES + 1,
    write (buffer, at, row) {
      at = write(buffer, at, row)
      buffer[at] = INTEGER_MARK
      return at + 1
    }
  }
}

/** @param {Float64Array} column @returns {CellWriter} */
function binary (column) {
  return {
    fixedBytes: BINARY_FLOAT64.length + 8,
    write: (buffer, at, row) => buffer.writeDoubleLE(column[row], put(buffer, at, BINARY_FLOAT64))
  }
}

/** @param {Uint8Array} column @param {number} yes @param {number} no @returns {CellWriter} */
function letter (column, yes, no) {
  return {
    fixedBytes: 1,
    write (buffer, at, row) {
      buffer[at] = column[row] === 0 ? no : yes
      return at + 1
    }
  }
}

/** @param {string[]} column @param {RegExp} escaped @returns {CellWriter} */
function text (column, escaped) {
  return {
    fixedBytes: 2,
    // At most three bytes for each UTF-16 unit; escaped ones take two.
    varyingBytes: row => 3 * column[row].length,
    write: (buffer, at, row) => putText(buffer, at, column[row], escaped)
  }
}

/** @param {Buffer} buffer @param {number} at @param {string} value @param {RegExp} escaped */
function putText (buffer, at, value, escaped) {
  buffer[at] = QUOTE
  if (value.length > SHORT_TEXT) return putLongText(buffer, at + 1, value, escaped)
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code >= 0x80 || code < SPACE || code === QUOTE || code === BACKSLASH) return putLongText(buffer, at + 1, value, escaped)
    buffer[at + 1 + i] = code
  }
  buffer[at + 1 + value.length] = QUOTE
  return at + 2 + value.length
}

/** @param {Buffer} buffer @param {number} at  after the quote @param {string} value @param {RegExp} escaped */
function putLongText (buffer, at, value, escaped) {
  at += buffer.write(value.replace(escaped, '\\$&'), at)
  buffer[at] = QUOTE
  return at + 1
}

/** @param {Uint8Array[]} column @returns {CellWriter} */
function base64 (column) {
  return {
    fixedBytes: 2,
    varyingBytes: row => Math.ceil(column[row].length / 3) * 4,
    write (buffer, at, row) {
      buffer[at++] = QUOTE
      at += buffer.write(base64Text(column[row]), at, 'latin1')
      buffer[at] = QUOTE
      return at + 1
    }
  }
}

/** @param {Uint8Array} value */
function base64Text ({ buffer, byteOffset, byteLength }) {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

/** @param {FieldType} type @param {any} value */
function plainText (type, value) {
  if (type === 'bool') return value === 1 ? 'true' : 'false'
  return type === 'bytes' ? base64Text(value) : String(value)
}

/** @param {Buffer} buffer @param {number} at @param {Buffer} bytes */
function put (buffer, at, bytes) {
  if (bytes.length > SHORT_NAME) buffer.set(bytes, at)
  else for (let i = 0; i < bytes.length; i++) buffer[at + i] = bytes[i]
  return at + bytes.length
}
