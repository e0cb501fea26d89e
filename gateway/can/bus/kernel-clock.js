/** Long enough to meet the moment at which a millisecond begins, short enough to follow a wall clock that is being slewed. */
const WINDOW_NS = 10_000_000_000n
const STEP_NS = 20_000_000n
const OLDEST_NS = 10_000_000_000n
const NS_PER_MS = 1_000_000n

/**
 * Turns the kernel's times, of the wall clock, into those of the source clock. How far the two are apart is the most that was seen lately:
 * the wall clock reads whole milliseconds, and so
 * never too much. A step of it is followed at once.
 */
export class KernelClock {
  #clock
  #wallMs
  /** wall minus source, most of this window and of the last one @type {bigint|null} */
  #most = null
  /** @type {bigint|null} */
  #mostBefore = null
  #windowNs = 0n
  #lastNs = 0n

  /** @param {import('../../clock/system-clock.js').Clock} clock @param {() => number} [wallMs] */
  constructor (clock, wallMs = Date.now) {
    this.#clock = clock
    this.#wallMs = wallMs
  }

  /**
   * Never before the last one, nor in the future. A time that no frame which has just arrived can have is taken as now.
   * @param {number|undefined} seconds @param {number|undefined} [microseconds]
   */
  timeOf (seconds, microseconds = 0) {
    const nowNs = this.#clock.nowNs()
    const offset = this.#offset(nowNs)
    const ns = seconds === undefined ? nowNs : BigInt(seconds) * 1_000_000_000n + BigInt(microseconds) * 1000n - offset
    const credible = ns > nowNs || nowNs - ns > OLDEST_NS ? nowNs : ns
    this.#lastNs = credible > this.#lastNs ? credible : this.#lastNs
    return this.#lastNs
  }

  /** @param {bigint} nowNs */
  #offset (nowNs) {
    const seen = BigInt(this.#wallMs()) * NS_PER_MS - nowNs
    const known = this.#mostBefore !== null && (this.#most === null || this.#mostBefore > this.#most) ? this.#mostBefore : this.#most
    const isStep = known !== null && (seen - known > STEP_NS || known - seen > STEP_NS)
    if (known === null || isStep) {
      this.#mostBefore = null
      this.#most = seen
      this.#windowNs = nowNs
      return seen
    }
    if (nowNs - this.#windowNs > WINDOW_NS) {
      this.#mostBefore = this.#most
      this.#most = seen
      this.#windowNs = nowNs
    } else if (this.#most === null || seen > this.#most) this.#most = seen
    return seen > known ? seen : known
  }
}
