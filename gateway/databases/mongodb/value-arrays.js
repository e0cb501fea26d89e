import { endDocument, FRAME_BYTES, presence, Start } from './documents.js'
import { elementWriter, header, TYPES } from './elements.js'
import { constantsOf } from './names.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./elements.js').Chunk} Chunk
 */

/** The values of each row of a batch as an array, null where one is missing. */
export class ValueArrays {
  #head
  #elements
  #floats

  /** @param {Batch} batch @param {string} key @param {boolean} finiteOnly */
  constructor (batch, key, finiteOnly) {
    const { fields, columns, validity } = batch
    this.#head = header(TYPES.array, key)
    this.#elements = fields.map(({ type }, f) => {
      return elementWriter(String(f), type, columns[f], presence(batch, f, finiteOnly), { nullIfMissing: true })
    })
    this.#floats = fields.flatMap(({ type }, f) => {
      const mustBeFinite = finiteOnly && (type === 'float64' || type === 'float32')
      return mustBeFinite ? [{ column: columns[f], valid: validity[f] }] : []
    })
  }

  /** Why the server would refuse a row, or null. @param {number} row */
  refusal (row) {
    const isInfinite = this.#floats.some(({ column, valid }) => {
      return valid?.[row] !== 0 && Math.abs(/** @type {number} */ (column[row])) === Infinity
    })
    return isInfinite ? 'FerretDB stores no infinities' : null
  }

  /** @param {number} row */
  mostBytes (row) {
    let bytes = this.#head.length + FRAME_BYTES
    for (const { mostBytes } of this.#elements) bytes += mostBytes(row)
    return bytes
  }

  /** @param {Chunk} chunk @param {number} at @param {number} row */
  write (chunk, at, row) {
    chunk.buffer.set(this.#head, at)
    const arrayAt = at + this.#head.length
    at = arrayAt + 4
    for (const { write } of this.#elements) at = write(chunk, at, row)
    return endDocument(chunk, arrayAt, at)
  }
}

/**
 * A document per row with its values as an array, as Arnst, Plenk and Wöltche store a sample: `{time, sensors: […]}`.
 * @param {import('./documents.js').Source} source
 * @returns {import('./documents.js').Documents}
 */
export function arrayDocuments ({ batch, key, keys, finiteOnly }) {
  const start = new Start(key, constantsOf(keys, batch), batch.time, { isExact: false })
  const values = new ValueArrays(batch, keys.fields[0].key, finiteOnly)
  const reasons = Array.from(batch.time, (_, row) => values.refusal(row))
  const rows = [...batch.time.keys()].filter(row => reasons[row] === null)
  return {
    length: rows.length,
    refused: reasons.flatMap((reason, row) => reason === null ? [] : [{ rows: [row], reason }]),
    rowsOf: i => [rows[i]],
    idOf: i => start.id(batch.rowNumber(rows[i])),
    mostBytes: i => start.length + values.mostBytes(rows[i]) + 1,
    write (chunk, from, i) {
      return endDocument(chunk, from, values.write(chunk, start.write(chunk, from, rows[i], batch.rowNumber(rows[i])), rows[i]))
    }
  }
}
