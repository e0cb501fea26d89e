/**
 * A set of whole numbers kept as sorted, disjoint, inclusive ranges: what a sink has committed, what a spool holds.
 */
export class RangeSet {
  /** @param {Iterable<[number, number]>} [ranges] */
  constructor (ranges = []) {
    /** @type {[number, number][]} */
    this.ranges = []
    for (const [first, last] of ranges) this.add(first, last)
  }

  /** @param {number} first @param {number} [last] */
  add (first, last = first) {
    if (last < first) return
    const { ranges } = this
    const from = this.#search(first - 1)
    let to = from
    while (to < ranges.length && ranges[to][0] <= last + 1) to++
    if (to > from) {
      first = Math.min(first, ranges[from][0])
      last = Math.max(last, ranges[to - 1][1])
    }
    ranges.splice(from, to - from, [first, last])
  }

  /** @param {number} n */
  has (n) {
    const range = this.ranges[this.#search(n)]
    return range !== undefined && range[0] <= n
  }

  /** The parts of `first`…`last` that are not in the set. @param {number} first @param {number} last @returns {[number, number][]} */
  missing (first, last) {
    /** @type {[number, number][]} */
    const gaps = []
    for (let i = this.#search(first); first <= last; i++) {
      const range = this.ranges[i]
      if (!range || range[0] > last) {
        gaps.push([first, last])
        break
      }
      if (range[0] > first) gaps.push([first, range[0] - 1])
      first = range[1] + 1
    }
    return gaps
  }

  /** How many numbers are in the set. */
  get size () {
    return this.ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  }

  toJSON () { return this.ranges }

  /** Index of the first range that ends at or after n. @param {number} n */
  #search (n) {
    let low = 0
    let high = this.ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.ranges[middle][1] < n) low = middle + 1
      else high = middle
    }
    return low
  }
}
