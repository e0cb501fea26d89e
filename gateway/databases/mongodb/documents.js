import { constantElements, elementWriter, header, int64, milliseconds, TYPES } from './elements.js'
import { constantsOf } from './names.js'

/**
 * The documents of a batch, in the layouts that have one or more per row.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./names.js').Keys} Keys
 * @typedef {import('./elements.js').Chunk} Chunk
 *
 * @typedef {object} Documents
 * @property {number} length
 * @property {(i: number) => number} mostBytes  that a document takes
 * @property {(chunk: Chunk, at: number, i: number) => number} write  returns where the next document starts
 * @property {(i: number) => readonly number[]} rowsOf  the rows of the batch that a document holds
 * @property {(i: number) => Buffer} idOf
 * @property {{rows: readonly number[], reason: string}[]} refused  rows that no document can hold
 *
 * @typedef {object} Source
 * @property {Batch} batch
 * @property {Buffer} key  16 bytes that no other batch has
 * @property {Keys} keys
 * @property {boolean} finiteOnly  the server accepts no NaN, which is left out, and in arrays no infinities
 */

export const MAX_DOCUMENT_BYTES = 16 * 2 ** 20

/** Of a document within: its length before, and NUL after. */
export const FRAME_BYTES = 5

const KEY_BYTES = 16

/** Of an _id: a document per row or interval, or per value. */
export const ID_BYTES = [KEY_BYTES + 4, KEY_BYTES + 8]

/** Of an _id that names a key, in hexadecimal digits. */
export const UPSERT_ID_LENGTH = 48

/** A document per row. @param {Source} source @returns {Documents} */
export function wideDocuments ({ batch, key, keys, finiteOnly }) {
  const start = new Start(key, constantsOf(keys, batch), batch.time)
  const elements = keys.fields.map(({ key: name, field }) => {
    return elementWriter(name, batch.fields[field].type, batch.columns[field], presence(batch, field, finiteOnly))
  })
  return {
    length: batch.rows,
    refused: [],
    rowsOf: row => [row],
    idOf: row => start.id(batch.rowNumber(row)),
    mostBytes (row) {
      let bytes = start.length + 1
      for (const { mostBytes } of elements) bytes += mostBytes(row)
      return bytes
    },
    write (chunk, from, row) {
      let at = start.write(chunk, from, row, batch.rowNumber(row))
      for (const { write } of elements) at = write(chunk, at, row)
      return endDocument(chunk, from, at)
    }
  }
}

const NARROW_KEYS = { float64: 1, float32: 1, int32: 1, int16: 1, uint16: 1, bool: 1, int64: 2, string: 3, bytes: 4 }

/** A document per value. @param {Source} source @returns {Documents} */
export function narrowDocuments ({ batch, key, keys, finiteOnly }) {
  const { fields, columns } = batch
  const start = new Start(key, constantsOf(keys, batch), batch.time, { perField: true })
  const present = fields.map((_, f) => presence(batch, f, finiteOnly))
  const elements = fields.map(({ name, type }, f) => {
    const before = constantElements(new Map([[keys.fields[0].key, name]]))
    const place = NARROW_KEYS[type]
    return elementWriter(keys.fields[place].key, place === 1 ? 'float64' : type, columns[f], null, { before })
  })
  const rowOf = new Uint32Array(batch.values)
  const fieldOf = new Uint32Array(batch.values)
  let length = 0
  for (let row = 0; row < batch.rows; row++) {
    for (let f = 0; f < fields.length; f++) {
      const valid = present[f]
      if (valid && valid[row] === 0) continue
      rowOf[length] = row
      fieldOf[length++] = f
    }
  }
  return {
    length,
    refused: [],
    rowsOf: i => [rowOf[i]],
    idOf: i => start.id(batch.rowNumber(rowOf[i]), fieldOf[i]),
    mostBytes: i => start.length + elements[fieldOf[i]].mostBytes(rowOf[i]) + 1,
    write (chunk, from, i) {
      const row = rowOf[i]
      const f = fieldOf[i]
      return endDocument(chunk, from, elements[f].write(chunk, start.write(chunk, from, row, batch.rowNumber(row), f), row))
    }
  }
}

/** How the documents of a batch begin: _id, time, time_ns (unless its layout has none), source and tags. */
export class Start {
  #bytes
  #numberAt
  #timeAt
  #timeNsAt
  #perField
  #putMilliseconds
  #putNanoseconds

  /**
   * @param {Buffer} key  16 bytes that no other batch has
   * @param {Map<string, unknown>} constants
   * @param {BigInt64Array} times
   * @param {{perField?: boolean, isExact?: boolean}} [options]  whether _id also tells fields apart, whether there is time_ns
   */
  constructor (key, constants, times, { perField = false, isExact = true } = {}) {
    const id = header(TYPES.binary, '_id')
    const time = header(TYPES.date, 'time')
    const timeNs = header(TYPES.int64, 'time_ns')
    const idBytes = ID_BYTES[perField ? 1 : 0]
    this.#perField = perField
    this.#numberAt = 4 + id.length + FRAME_BYTES + KEY_BYTES
    this.#timeAt = 4 + id.length + FRAME_BYTES + idBytes + time.length
    this.#timeNsAt = isExact ? this.#timeAt + 8 + timeNs.length : null
    this.#bytes = Buffer.concat([
      Buffer.alloc(4),
      id, Buffer.of(idBytes, 0, 0, 0, 0), key, Buffer.alloc(idBytes - KEY_BYTES),
      time, Buffer.alloc(8),
      ...isExact ? [timeNs, Buffer.alloc(8)] : [],
      constantElements(constants)
    ])
    this.#putMilliseconds = milliseconds(times)
    this.#putNanoseconds = int64(times)
  }

  get length () { return this.#bytes.length }

  /**
   * @param {Chunk} chunk @param {number} at
   * @param {number} i  of the times
   * @param {number} number  of the row in its whole batch
   * @param {number} [field]
   */
  write (chunk, at, i, number, field = 0) {
    chunk.buffer.set(this.#bytes, at)
    chunk.view.setUint32(at + this.#numberAt, number)
    if (this.#perField) chunk.view.setUint32(at + this.#numberAt + 4, field)
    this.#putMilliseconds(chunk, at + this.#timeAt, i)
    if (this.#timeNsAt !== null) this.#putNanoseconds(chunk, at + this.#timeNsAt, i)
    return at + this.#bytes.length
  }

  /** The _id that `write` puts into the document. @param {number} number @param {number} [field] */
  id (number, field = 0) {
    const bytes = Buffer.alloc(ID_BYTES[this.#perField ? 1 : 0])
    this.#bytes.copy(bytes, 0, this.#numberAt - KEY_BYTES, this.#numberAt)
    bytes.writeUInt32BE(number, KEY_BYTES)
    if (this.#perField) bytes.writeUInt32BE(field, KEY_BYTES + 4)
    return bytes
  }
}

/** Closes a document or array that begins at `from`. @param {Chunk} chunk @param {number} from @param {number} at */
export function endDocument ({ buffer, view }, from, at) {
  buffer[at] = 0
  view.setInt32(from, at + 1 - from, true)
  return at + 1
}

/**
 * Which values of a field are to be stored; null for all.
 * @param {Batch} batch
 * @param {number} field
 * @param {boolean} finiteOnly
 * @returns {Uint8Array|null}
 */
export function presence ({ fields, columns, validity }, field, finiteOnly) {
  const valid = validity[field]
  const { type } = fields[field]
  if (!finiteOnly || (type !== 'float64' && type !== 'float32')) return valid
  const column = /** @type {Float64Array} */ (columns[field])
  if (!column.some(Number.isNaN)) return valid
  return Uint8Array.from(column, (value, row) => Number.isNaN(value) || valid?.[row] === 0 ? 0 : 1)
}
