/** Values of one magnitude that are told apart: to three digits. */
const STEPS = 1024
const STEP_BITS = 10

/**
 * How often which whole number from 0 to 2^32 − 1 came, to three digits: the steps double from one magnitude to the next, and only
 * magnitudes that came take memory, 8 KiB each.
 */
export class Histogram {
  /** How many of each step, by magnitude; sparse. @type {Float64Array[]} */
  #counts = []
  total = 0
  max = 0

  /** @param {number} value @param {number} [times] */
  record (value, times = 1) {
    const magnitude = Math.max(0, 32 - STEP_BITS - Math.clz32(value))
    const counts = this.#counts[magnitude] ??= new Float64Array(STEPS)
    counts[(value - firstOf(magnitude)) / widthOf(magnitude) | 0] += times
    this.total += times
    this.max = Math.max(this.max, value)
  }

  /** So great is this share of them at most: the end of a step, so that it is never shown better than it is. @param {number} share */
  at (share) {
    let left = Math.max(1, Math.round(share * this.total))
    for (const [magnitude, counts] of this.#counts.entries()) {
      for (let step = 0; counts && step < STEPS; step++) {
        left -= counts[step]
        if (left <= 0) return Math.min(this.max, firstOf(magnitude) + (step + 1) * widthOf(magnitude) - 1)
      }
    }
    return this.max
  }

  /**
   * How many are no greater than each of these bounds, and what all are together. Each counts as the end of its step, too, so that neither
   * number ever falls.
   * @param {readonly number[]} bounds  ascending
   */
  distribution (bounds) {
    /** @type {number[]} */
    const counts = new Array(bounds.length).fill(0)
    let sum = 0
    for (const [magnitude, steps] of this.#counts.entries()) {
      for (let step = 0; steps && step < STEPS; step++) {
        if (steps[step] === 0) continue
        const end = firstOf(magnitude) + (step + 1) * widthOf(magnitude) - 1
        sum += end * steps[step]
        for (let bound = bounds.length - 1; end <= bounds[bound]; bound--) counts[bound] += steps[step]
      }
    }
    return { counts, sum, total: this.total }
  }

  reset () {
    for (const counts of this.#counts) counts?.fill(0)
    this.total = this.max = 0
  }
}

/** The least of a magnitude. @param {number} magnitude */
function firstOf (magnitude) { return magnitude === 0 ? 0 : STEPS * widthOf(magnitude) }

/** Of its steps. @param {number} magnitude */
function widthOf (magnitude) { return 2 ** Math.max(0, magnitude - 1) }
