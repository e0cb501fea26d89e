/** @typedef {import('../reader.js').Sample} Sample */

export const PAGE_ROWS = 10_000

/** Puts samples that come in the order of time into pages, those of one time in the order of the sensors asked for. */
export class Pages {
  #pageRows
  #places
  /** @type {Sample[]} */
  #samples = []
  /** where those of the last time begin; the others are in order */
  #last = 0
  #lastPlace = -1
  #isMixed = false

  /** @param {{sensors: string[], pageRows?: number}} range */
  constructor ({ sensors, pageRows = PAGE_ROWS }) {
    this.#pageRows = pageRows
    this.#places = new Map(sensors.map((sensor, place) => [sensor, place]))
  }

  /** @param {string} sensor */
  has (sensor) {
    return this.#places.has(sensor)
  }

  /** @param {bigint} time @param {string} sensor  one of those asked for @param {Sample['value']} value */
  add (time, sensor, value) {
    const place = /** @type {number} */ (this.#places.get(sensor))
    const samples = this.#samples
    if (samples.length > 0 && samples[samples.length - 1].time !== time) this.#settle()
    if (place < this.#lastPlace) this.#isMixed = true
    this.#lastPlace = place
    samples.push({ time, sensor, value })
  }

  /** The pages that are full and can no longer change. @returns {Generator<Sample[], void, void>} */
  * full () {
    while (this.#last >= this.#pageRows) {
      this.#last -= this.#pageRows
      yield this.#samples.splice(0, this.#pageRows)
    }
  }

  /** All that is left. @returns {Generator<Sample[], void, void>} */
  * rest () {
    this.#settle()
    yield * this.full()
    if (this.#samples.length > 0) yield this.#samples
  }

  #settle () {
    if (this.#isMixed) {
      const place = (/** @type {Sample} */ { sensor }) => /** @type {number} */ (this.#places.get(sensor))
      this.#samples.push(...this.#samples.splice(this.#last).sort((a, b) => place(a) - place(b)))
    }
    this.#last = this.#samples.length
    this.#lastPlace = -1
    this.#isMixed = false
  }
}

/**
 * The pages of rows that come in the order of time.
 * @template Row
 * @param {AsyncIterable<Row>} rows
 * @param {(pages: Pages, row: Row) => void} add  the samples in a row
 * @param {{sensors: string[], pageRows?: number, signal?: AbortSignal}} range
 * @returns {AsyncGenerator<Sample[], void, void>}
 */
export async function * inPages (rows, add, { signal, ...range }) {
  const pages = new Pages(range)
  for await (const row of rows) {
    add(pages, row)
    for (const page of pages.full()) {
      yield page
      signal?.throwIfAborted()
    }
  }
  for (const page of pages.rest()) {
    yield page
    signal?.throwIfAborted()
  }
}
