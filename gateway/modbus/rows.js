import { Batch, COLUMN_TYPES } from '../batch/batch.js'
import { qualityColumn } from '../batch/quality.js'

/**
 * @typedef {import('./tags.js').Tag} Tag
 * @typedef {import('./values.js').Cell} Cell
 */

/** The content of a cell that is marked as missing. @type {Record<string, unknown>} */
const BLANK = { float64: NaN, float32: NaN, int64: 0n, string: '' }

/** Gathers the rows of one poll group into batches, a column per tag. */
export class Rows {
  #source
  #fields
  #tags
  #capacity
  /** @type {bigint[]} */
  #times = []
  /** @type {any[]} one per field */
  #columns = []
  /** @type {(Uint8Array|null)[]} per field */
  #validity = []
  /** @type {(string|undefined)[]} */
  #qualities = []

  /**
   * @param {Tag[]} tags
   * @param {{source: string, device: string, capacity: number}} options
   */
  constructor (tags, { source, device, capacity }) {
    this.#source = source
    this.#fields = tags.map(({ name, field, unit }) => ({ name, type: field, ...(unit && { unit }) }))
    this.#tags = { device }
    this.#capacity = capacity
  }

  get count () { return this.#times.length }

  get isFull () { return this.count === this.#capacity }

  get firstNs () { return this.#times[0] }

  /** Must not be called when full. @param {bigint} ns @param {(Cell|undefined)[]} cells @param {string|undefined} quality */
  add (ns, cells, quality) {
    const row = this.count
    if (row === 0) this.#begin()
    this.#times.push(ns)
    this.#qualities.push(quality)
    for (let f = 0; f < cells.length; f++) {
      const value = cells[f]
      this.#columns[f][row] = value ?? BLANK[this.#fields[f].type] ?? 0
      if (value === undefined) (this.#validity[f] ??= new Uint8Array(this.#capacity).fill(1))[row] = 0
    }
  }

  /** Returns the rows gathered so far and forgets them. */
  take () {
    const rows = this.count
    const quality = qualityColumn(this.#qualities)
    const validity = this.#validity.map(valid => valid && valid.slice(0, rows))
    const batch = new Batch({
      source: this.#source,
      time: BigInt64Array.from(this.#times),
      fields: quality ? [...this.#fields, quality.field] : this.#fields,
      columns: [
        ...this.#columns.map(column => column.length === rows ? column : column.slice(0, rows)),
        ...quality ? [quality.column] : []
      ],
      validity: quality ? [...validity, quality.validity] : validity,
      tags: this.#tags
    })
    this.#times = []
    this.#qualities = []
    return batch
  }

  #begin () {
    this.#columns = this.#fields.map(({ type }) => type === 'string' ? [] : new (/** @type {any} */ (COLUMN_TYPES[type]))(this.#capacity))
    this.#validity = this.#fields.map(() => null)
  }
}
