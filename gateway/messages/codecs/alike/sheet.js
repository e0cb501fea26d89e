import { Batch } from '../../../batch/batch.js'
import { BOOLEAN, INTEGER, TEXT } from './shape.js'

/**
 * @typedef {import('../../../batch/batch.js').Column} Column
 * @typedef {import('../../../batch/tags.js').Tags} Tags
 * @typedef {import('./shape.js').Shape} Shape
 */

/** What stays for the next message. */
const KEPT_CELLS = 2 ** 16

/** Numbers of the rows of one message while they are read, in cells of eight bytes. */
class Cells {
  floats = new Float64Array(0)
  halves = new Uint32Array(0)
  integers = new BigInt64Array(0)
  #used = 0

  /** @param {number} count @returns {number} the index of the first */
  take (count) {
    const first = this.#used
    this.#used += count
    if (this.#used > this.floats.length) this.#become(Math.max(KEPT_CELLS, 2 * this.#used))
    return first
  }

  /** The message is read. */
  release () {
    this.#used = 0
    if (this.floats.length > KEPT_CELLS) this.#become(KEPT_CELLS)
  }

  /** @param {number} count */
  #become (count) {
    const before = this.integers
    const buffer = new ArrayBuffer(8 * count)
    this.floats = new Float64Array(buffer)
    this.halves = new Uint32Array(buffer)
    this.integers = new BigInt64Array(buffer)
    this.integers.set(before.subarray(0, Math.min(this.#used, count, before.length)))
  }
}

export const cells = new Cells()

/** The rows of a message that have the same shape, column by column. */
export class Sheet {
  rows = 0
  /** Once it has rows. @type {import('./measurement.js').Measurement|null} */
  measurement = null
  /** Of tags and texts, by place. @type {string[][]} */
  texts
  #first
  #capacity

  /** @param {Shape} shape @param {number} capacity  of rows, at first */
  constructor (shape, capacity) {
    this.shape = shape
    this.texts = shape.kinds.map(() => [])
    this.#capacity = capacity
    this.#first = cells.take(this.#columns * capacity)
  }

  /** Those of the values, then of times and indices of points. */
  get #columns () { return this.shape.kinds.length + 2 }

  /** The cell of the row that comes next. @param {number} place  of a value */
  cellOf (place) {
    return this.#first + place * this.#capacity + this.rows
  }

  get timeCell () { return this.cellOf(this.shape.kinds.length) }

  /** Makes room for one more row. */
  makeRoom () {
    if (this.rows < this.#capacity) return
    const before = this.#first
    this.#first = cells.take(2 * this.#columns * this.#capacity)
    for (let i = 0; i < this.#columns; i++) {
      const from = before + i * this.#capacity
      cells.integers.copyWithin(this.#first + 2 * i * this.#capacity, from, from + this.rows)
    }
    this.#capacity *= 2
  }

  /** The row is what was read into its cells and texts. @param {number} index  of the point in the message */
  add (index) {
    cells.floats[this.cellOf(this.shape.kinds.length + 1)] = index
    this.rows++
  }

  /** The index of each row's point. */
  get indices () { return this.#column(cells.floats, this.shape.kinds.length + 1) }

  /** @param {number} row @returns {string[]} names and values */
  tagsAt (row) {
    return this.shape.tags.flatMap(({ name, place }) => [name, this.texts[place][row]])
  }

  toBatch () {
    const { source, kinds, fields, firstField } = this.shape
    return new Batch({
      source,
      time: this.#column(cells.integers, kinds.length),
      fields: /** @type {import('../../../batch/batch.js').Field[]} */ (fields),
      columns: fields.map((_, f) => this.#values(firstField + f)),
      tags: this.#tags()
    })
  }

  /** The batch of the one row that has been read; then another may be. */
  toOne () {
    this.rows = 1
    const batch = this.toBatch()
    this.rows = 0
    cells.release()
    return batch
  }

  #tags () {
    /** @type {Tags} */
    const tags = {}
    for (const { name, place } of this.shape.tags) {
      const tag = { values: this.#textsOf(place), valid: null }
      if (name === '__proto__') Object.defineProperty(tags, name, { value: tag, enumerable: true, configurable: true, writable: true })
      else tags[name] = tag
    }
    return tags
  }

  /** @param {number} place @returns {Column} */
  #values (place) {
    switch (this.shape.kinds[place]) {
      case TEXT: return this.#textsOf(place)
      case INTEGER: return this.#column(cells.integers, place)
      case BOOLEAN: return new Uint8Array(this.#column(cells.floats, place))
      default: return this.#column(cells.floats, place)
    }
  }

  /** @param {number} place */
  #textsOf (place) {
    return this.texts[place].slice(0, this.rows) // a line that turned out to be another may have left one more
  }

  /** @template {Float64Array|BigInt64Array} T @param {T} array @param {number} place @returns {T} */
  #column (array, place) {
    const first = this.#first + place * this.#capacity
    return /** @type {T} */ (array.slice(first, first + this.rows))
  }
}
