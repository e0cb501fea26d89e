/** @typedef {{p50: number, p99: number}} Percentiles */

/** Values are told apart in 64 steps from one power of two to the next: to 1.6 %. */
const STEP_BITS = 6
const STEPS = 1 << STEP_BITS
/** What is less counts as 0, what is more as an hour: as in the latencies of the stats. */
const MAX_MICROSECONDS = 3_600_000_000
const SIZE = indexOf(MAX_MICROSECONDS) + 1

/**
 * How long something took, over a few seconds. The histograms of the stats know three digits in 8 KiB for each power of two; hundreds of
 * sources for years want less: 7 KiB in all.
 */
export class Recent {
  /** Made when it is first needed. @type {Uint32Array|undefined} */
  #counts
  #total = 0
  #max = 0

  /** @param {number} microseconds @param {number} [times] */
  record (microseconds, times = 1) {
    const value = Math.min(Math.max(Math.round(microseconds), 0), MAX_MICROSECONDS)
    this.#counts ??= new Uint32Array(SIZE)
    this.#counts[indexOf(value)] += times
    this.#total += times
    if (value > this.#max) this.#max = value
  }

  /** Microseconds since this was last called, never less than they were; null when there were none. @returns {Percentiles|null} */
  take () {
    const counts = this.#counts
    if (!counts || this.#total === 0) return null
    const [half, most] = [Math.max(1, Math.round(this.#total * 0.5)), Math.max(1, Math.round(this.#total * 0.99))]
    let seen = 0
    let index = -1
    while (seen < half) seen += counts[++index]
    const p50 = Math.min(this.#max, endOf(index))
    while (seen < most) seen += counts[++index]
    const p99 = Math.min(this.#max, endOf(index))
    counts.fill(0)
    this.#total = this.#max = 0
    return { p50, p99 }
  }
}

/** @param {number} value  whole, from 0 to 2^32 − 1 */
function indexOf (value) {
  const shift = Math.max(0, 31 - STEP_BITS - Math.clz32(value))
  return shift * STEPS + (value >>> shift)
}

/** The greatest value with that index. @param {number} index */
function endOf (index) {
  const shift = Math.max(0, (index >>> STEP_BITS) - 1)
  return (index - shift * STEPS + 1) * 2 ** shift - 1
}
