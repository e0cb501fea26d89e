import { Batch, COLUMN_TYPES } from '../../batch/batch.js'
import { qualityColumn } from '../../batch/quality.js'

/**
 * @typedef {import('./columns.js').FieldColumn} FieldColumn
 * @typedef {number|bigint|string|undefined} Value
 */

/** The content of a cell that is marked as missing. */
const BLANK = { float64: NaN, int64: 0n, bool: 0, string: '' }

/** Gathers the rows of one source and its tags into batches. */
export class CsvRows {
  #source
  #tags
  #fields
  /** @type {bigint[]} */
  #times = []
  /** @type {Value[][]} by field */
  #values
  /** @type {(string|undefined)[]} */
  #quality = []

  /** @param {{source: string, tags: Record<string, string>, fields: FieldColumn[]}} options */
  constructor ({ source, tags, fields }) {
    this.#source = source
    this.#tags = tags
    this.#fields = fields
    this.#values = fields.map(() => [])
  }

  get rows () { return this.#times.length }

  /** @param {bigint} ns @param {Value[]} values  by field; undefined where missing @param {string} [quality]  why one is bad */
  add (ns, values, quality) {
    this.#times.push(ns)
    this.#quality.push(quality)
    for (let f = 0; f < values.length; f++) this.#values[f].push(values[f])
  }

  take () {
    const quality = qualityColumn(this.#quality)
    const fields = this.#fields.map(({ name, type, unit }) => ({ name, type, ...(unit && { unit }) }))
    const columns = this.#fields.map(({ type }, f) => columnOf(type, this.#values[f]))
    const validity = this.#values.map(validityOf)
    const batch = new Batch({
      source: this.#source,
      time: BigInt64Array.from(this.#times),
      fields: quality ? [...fields, quality.field] : fields,
      columns: quality ? [...columns, quality.column] : columns,
      validity: quality ? [...validity, quality.validity] : validity,
      tags: this.#tags
    })
    this.#times = []
    this.#quality = []
    this.#values = this.#fields.map(() => [])
    return batch
  }
}

/** @param {FieldColumn['type']} type @param {Value[]} values */
function columnOf (type, values) {
  return /** @type {any} */ (COLUMN_TYPES[type]).from(values, (/** @type {Value} */ value) => value ?? BLANK[type])
}

/** @param {Value[]} values  undefined where missing @returns {Uint8Array|null} null where none is */
function validityOf (values) {
  return values.includes(undefined) ? Uint8Array.from(values, value => value === undefined ? 0 : 1) : null
}
