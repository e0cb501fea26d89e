import { Histogram } from './histogram.js'

/**
 * How long each batch took that a database was asked to write, by what became of it: one that failed has taken its time, too, and counts
 * with it.
 *
 * @typedef {'stored'|'failed'|'refused'} Outcome  `failed`: it is written again; `refused`: for good, as it is
 *
 * @typedef {object} WriteSummary  microseconds; percentiles to three digits, the others exact
 * @property {number} count  batches
 * @property {number} min
 * @property {number} mean
 * @property {number} deviation  the standard one, of all of them
 * @property {number} p25
 * @property {number} p50
 * @property {number} p75
 * @property {number} p95
 * @property {number} p99
 * @property {number} max
 *
 * @typedef {Partial<Record<Outcome, WriteSummary>>} WriteSummaries  of those that occurred
 */

const MAX_MICROSECONDS = 2 ** 32 - 1

export class WriteTimes {
  /** @type {Map<Outcome, Times>} */
  #times = new Map()

  /** @param {Outcome} outcome @param {number} microseconds  an hour and more counts as an hour and eleven minutes at most */
  record (outcome, microseconds) {
    let times = this.#times.get(outcome)
    if (!times) this.#times.set(outcome, times = new Times())
    times.record(Math.min(Math.max(0, Math.round(microseconds)), MAX_MICROSECONDS))
  }

  /** @returns {WriteSummaries} */
  summary () {
    return Object.fromEntries([...this.#times].flatMap(([outcome, times]) => times.count > 0 ? [[outcome, times.summary()]] : []))
  }

  /** @param {readonly number[]} bounds  microseconds */
  distributions (bounds) {
    return Array.from(this.#times, ([outcome, { histogram }]) => ({ outcome, distribution: histogram.distribution(bounds) }))
  }

  reset () { for (const times of this.#times.values()) times.reset() }
}

/** Of one outcome. Mean and squares are kept as Welford does: without the loss of digits of a sum of squares. */
class Times {
  histogram = new Histogram()
  #min = Infinity
  #mean = 0
  #squares = 0

  get count () { return this.histogram.total }

  /** @param {number} microseconds */
  record (microseconds) {
    this.histogram.record(microseconds)
    this.#min = Math.min(this.#min, microseconds)
    const before = microseconds - this.#mean
    this.#mean += before / this.count
    this.#squares += before * (microseconds - this.#mean)
  }

  /** @returns {WriteSummary} */
  summary () {
    const { histogram } = this
    const [p25, p50, p75, p95, p99] = [0.25, 0.5, 0.75, 0.95, 0.99].map(share => histogram.at(share))
    const deviation = Math.sqrt(this.#squares / this.count)
    return { count: this.count, min: this.#min, mean: this.#mean, deviation, p25, p50, p75, p95, p99, max: histogram.max }
  }

  reset () {
    this.histogram.reset()
    this.#min = Infinity
    this.#mean = this.#squares = 0
  }
}
