import { Histogram } from './histogram.js'

/**
 * @typedef {object} LatencySummary  milliseconds, to three digits
 * @property {number} count  rows
 * @property {number} p50
 * @property {number} p95
 * @property {number} p99
 * @property {number} max
 * @property {number} clamped  rows with a time in the future, counted as 0, or more than an hour ago, counted as an hour
 */

const HOUR_MICROSECONDS = 3_600_000_000

/**
 * How old rows are when they pass, from a microsecond to an hour. Of a thousand sources each has one, and is seldom older or younger than
 * twice or half as old: a histogram takes little memory for that.
 */
export class Latency {
  #ages = new Histogram()
  /** as in the summary */
  clamped = 0

  /** @param {number} microseconds @param {number} rows */
  record (microseconds, rows) {
    if (microseconds < 0 || microseconds > HOUR_MICROSECONDS) this.clamped += rows
    this.#ages.record(Math.min(Math.max(Math.round(microseconds), 0), HOUR_MICROSECONDS), rows)
  }

  /** Null when nothing passed. @returns {LatencySummary|null} */
  summary () {
    const ages = this.#ages
    if (ages.total === 0) return null
    return {
      count: ages.total,
      p50: ages.at(0.5) / 1000,
      p95: ages.at(0.95) / 1000,
      p99: ages.at(0.99) / 1000,
      max: ages.max / 1000,
      clamped: this.clamped
    }
  }

  /** Microseconds. @param {readonly number[]} bounds */
  distribution (bounds) {
    return this.#ages.distribution(bounds)
  }

  reset () {
    this.#ages.reset()
    this.clamped = 0
  }
}
