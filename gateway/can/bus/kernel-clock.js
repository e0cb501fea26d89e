/** Long enough to meet the moment at which a millisecond begins, short enough to follow a wall clock that is being slewed. */
const WINDOW_NS = 10_000_000_000n
const STEP_NS = 20_000_000n
const MAX_AGE_NS = 10_000_000_000n
const NS_PER_MS = 1_000_000n

/**
 * Converts the kernel's times, of the wall clock, to those of the source clock. The offset of the two is the largest seen lately: the wall
 * clock reads whole milliseconds, and so never too much. A step of it is followed at once.
 */
export class KernelClock {
  #clock
  #wallMs
  /** wall minus source: the largest in this window and in the last one @type {bigint|null} */
  #maxNs = null
  /** @type {bigint|null} */
  #maxBeforeNs = null
  #windowNs = 0n
  #lastNs = 0n

  /** @param {import('../../clock/system-clock.js').Clock} clock @param {() => number} [wallMs] */
  constructor (clock, wallMs = Date.now) {
    this.#clock = clock
    this.#wallMs = wallMs
  }

  /**
   * Never before the last one, nor in the future. A time that a frame which has just arrived cannot have counts as now.
   * @param {number|undefined} seconds @param {number|undefined} [microseconds]
   */
  timeOf (seconds, microseconds = 0) {
    const nowNs = this.#clock.nowNs()
    const offset = this.#offset(nowNs)
    const ns = seconds === undefined ? nowNs : BigInt(seconds) * 1_000_000_000n + BigInt(microseconds) * 1000n - offset
    const credible = ns > nowNs || nowNs - ns > MAX_AGE_NS ? nowNs : ns
    this.#lastNs = credible > this.#lastNs ? credible : this.#lastNs
    return this.#lastNs
  }

  /** @param {bigint} nowNs */
  #offset (nowNs) {
    const seen = BigInt(this.#wallMs()) * NS_PER_MS - nowNs
    const isLower = this.#maxBeforeNs !== null && (this.#maxNs === null || this.#maxBeforeNs > this.#maxNs)
    const known = isLower ? this.#maxBeforeNs : this.#maxNs
    const isStep = known !== null && (seen - known > STEP_NS || known - seen > STEP_NS)
    if (known === null || isStep) {
      this.#maxBeforeNs = null
      this.#maxNs = seen
      this.#windowNs = nowNs
      return seen
    }
    if (nowNs - this.#windowNs > WINDOW_NS) {
      this.#maxBeforeNs = this.#maxNs
      this.#maxNs = seen
      this.#windowNs = nowNs
    } else if (this.#maxNs === null || seen > this.#maxNs) this.#maxNs = seen
    return seen > known ? seen : known
  }
}
