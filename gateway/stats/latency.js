import { build } from 'hdr-histogram-js'

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

/** How old rows are when they pass: an HDR histogram from a microsecond to an hour, which starts small and grows as needed. */
export class Latency {
  #histogram = build({
    bitBucketSize: 64,
    autoResize: true,
    lowestDiscernibleValue: 1,
    highestTrackableValue: 100_000,
    numberOfSignificantValueDigits: 3
  })

  #clamped = 0

  /** @param {number} microseconds @param {number} rows */
  record (microseconds, rows) {
    const within = Math.min(Math.max(Math.round(microseconds), 0), HOUR_MICROSECONDS)
    if (microseconds < 0 || microseconds > HOUR_MICROSECONDS) this.#clamped += rows
    this.#histogram.recordValueWithCount(within, rows)
  }

  /** Null when nothing passed. @returns {LatencySummary|null} */
  summary () {
    const histogram = this.#histogram
    if (histogram.totalCount === 0) return null
    const milliseconds = (/** @type {number} */ percentile) => histogram.getValueAtPercentile(percentile) / 1000
    return {
      count: histogram.totalCount,
      p50: milliseconds(50),
      p95: milliseconds(95),
      p99: milliseconds(99),
      max: histogram.maxValue / 1000,
      clamped: this.#clamped
    }
  }

  reset () {
    this.#histogram.reset()
    this.#clamped = 0
  }
}
