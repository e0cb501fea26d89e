/** Evenly spaced times: step i is at start + i·period, the period being whole nanoseconds. */
export class Steps {
  #startNs

  /** @param {{startNs: bigint, periodSeconds: number}} options */
  constructor ({ startNs, periodSeconds }) {
    this.#startNs = startNs
    this.periodNs = BigInt(Math.max(1, Math.round(periodSeconds * 1e9)))
  }

  get periodSeconds () { return Number(this.periodNs) / 1e9 }

  /** How many steps are at or before a time. @param {bigint} ns */
  until (ns) {
    return ns < this.#startNs ? 0 : Number((ns - this.#startNs) / this.periodNs) + 1
  }

  /** @param {number} step */
  at (step) {
    return this.#startNs + BigInt(step) * this.periodNs
  }

  /** The times of steps one after the other. @param {number} first @param {number} count */
  times (first, count) {
    const times = new BigInt64Array(count)
    for (let i = 0, ns = this.at(first); i < count; i++, ns += this.periodNs) times[i] = ns
    return times
  }
}
