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

/** Values of one magnitude that are told apart: to three digits. */
const STEPS = 1024
const STEP_BITS = 10

/**
 * How old rows are when they pass, from a microsecond to an hour: a histogram whose steps double from one magnitude to the next. Of a
 * thousand sources each has one, and is seldom older or younger than twice or half as old: only magnitudes that came take memory.
 */
export class Latency {
  /** How many rows of each step, by magnitude; sparse. @type {Float64Array[]} */
  #counts = []
  #total = 0
  #max = 0
  #clamped = 0

  /** @param {number} microseconds @param {number} rows */
  record (microseconds, rows) {
    const within = Math.min(Math.max(Math.round(microseconds), 0), HOUR_MICROSECONDS)
    if (microseconds < 0 || microseconds > HOUR_MICROSECONDS) this.#clamped += rows
    const magnitude = Math.max(0, 32 - STEP_BITS - Math.clz32(within))
    const counts = this.#counts[magnitude] ??= new Float64Array(STEPS)
    counts[(within - firstOf(magnitude)) / widthOf(magnitude) | 0] += rows
    this.#total += rows
    this.#max = Math.max(this.#max, within)
  }

  /** Null when nothing passed. @returns {LatencySummary|null} */
  summary () {
    if (this.#total === 0) return null
    return {
      count: this.#total,
      p50: this.#at(0.5) / 1000,
      p95: this.#at(0.95) / 1000,
      p99: this.#at(0.99) / 1000,
      max: this.#max / 1000,
      clamped: this.#clamped
    }
  }

  reset () {
    for (const counts of this.#counts) counts?.fill(0)
    this.#total = this.#max = this.#clamped = 0
  }

  /** So old is this share of the rows at most: the end of a step, so that it is never shown better than it is. @param {number} share */
  #at (share) {
    let left = Math.max(1, Math.round(share * this.#total))
    for (const [magnitude, counts] of this.#counts.entries()) {
      for (let step = 0; counts && step < STEPS; step++) {
        left -= counts[step]
        if (left <= 0) return Math.min(this.#max, firstOf(magnitude) + (step + 1) * widthOf(magnitude) - 1)
      }
    }
    return this.#max
  }
}

/** The least of a magnitude. @param {number} magnitude */
function firstOf (magnitude) { return magnitude === 0 ? 0 : STEPS * widthOf(magnitude) }

/** Of its steps. @param {number} magnitude */
function widthOf (magnitude) { return 2 ** Math.max(0, magnitude - 1) }
