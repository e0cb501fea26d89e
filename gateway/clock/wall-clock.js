import { TimeLine } from './time-line.js'

const CHECK_MS = 1000
/** A smaller difference is not worth a jump, and may be one of reading two clocks. */
const STEP_NS = 50_000_000n
/** Asking the kernel takes a process: where the clock may never be set, it is not asked every second. */
const ASK_AGAIN_NS = 10_000_000_000n
const NS_PER_MS = 1_000_000n

/**
 * @typedef {object} WallClockOptions
 * @property {() => bigint} sourceNs  what sources stamp by: never stepped
 * @property {() => bigint} wallNs  what the machine's clock shows
 * @property {bigint} releasedNs  an earlier time cannot be right
 * @property {() => Promise<boolean|undefined>} isSynchronised  what the kernel reports; undefined: nothing
 * @property {number} [patienceMs]  how long samples wait for a clock to be set
 */

/**
 * Follows the machine's clock, which on a small computer without a battery is set only minutes after the start, and may be stepped at any
 * time.
 *
 * - `waiting`: it is not set (earlier than this software, or the kernel reports it unsynchronised); samples are to wait;
 * - `set`: `line` converts the sources' time to the wall clock's;
 * - `unsynchronised`: it was not set in time; samples go on, marked, until it is.
 */
export class WallClock {
  /** @type {'waiting'|'set'|'unsynchronised'} */
  state = 'waiting'
  line = new TimeLine()
  #options
  #offsetNs = 0n
  /** @type {bigint|undefined} */
  #startedNs
  #askedNs = 0n
  #isAsking = false
  /** @type {Set<() => void>} */
  #waiting = new Set()
  /** @type {NodeJS.Timeout|undefined} */
  #timer

  /** @param {WallClockOptions} options */
  constructor (options) {
    this.#options = { patienceMs: 120_000, ...options }
  }

  /** Begins to follow the clock; samples wait from here on. */
  start () {
    if (this.#timer) return
    this.#startedNs = this.#options.sourceNs()
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref()
    this.check()
  }

  stop () {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Calls `settled` once samples need not wait any longer. @param {() => void} settled @returns {() => void} cancels that */
  whenSettled (settled) {
    this.#waiting.add(settled)
    return () => this.#waiting.delete(settled)
  }

  /** Checks the clock now; the same happens every second. */
  async check () {
    if (this.state !== 'set') await this.#await()
    else this.#follow()
  }

  async #await () {
    const { sourceNs, wallNs, releasedNs, patienceMs } = this.#options
    this.#startedNs ??= sourceNs()
    const isSet = wallNs() >= releasedNs && await this.#isSynchronised()
    if (this.state === 'set') return // by another check meanwhile
    if (isSet) this.#settle()
    else if (this.state === 'waiting' && sourceNs() - this.#startedNs >= BigInt(patienceMs) * NS_PER_MS) this.#enter('unsynchronised')
  }

  async #isSynchronised () {
    const { sourceNs, isSynchronised } = this.#options
    if (this.#isAsking || (this.state === 'unsynchronised' && sourceNs() - this.#askedNs < ASK_AGAIN_NS)) return false
    this.#askedNs = sourceNs()
    this.#isAsking = true
    try {
      return await isSynchronised() !== false
    } finally {
      this.#isAsking = false
    }
  }

  #settle () {
    this.#follow()
    if (this.state === 'waiting') this.line = new TimeLine(this.#offsetNs) // samples stamped so far still wait, and are right by it
    this.#enter('set')
  }

  /** @param {'set'|'unsynchronised'} state */
  #enter (state) {
    this.state = state
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const settled of waiting) settled()
  }

  #follow () {
    const offsetNs = this.#measure()
    const stepNs = offsetNs - this.#offsetNs
    if (-STEP_NS < stepNs && stepNs < STEP_NS) return
    this.#offsetNs = offsetNs
    this.line.change(this.#options.sourceNs(), offsetNs)
  }

  /** The wall clock's time less the sources'. */
  #measure () {
    const { sourceNs, wallNs } = this.#options
    let best = { spanNs: 2n ** 62n, offsetNs: 0n }
    for (let i = 0; i < 3; i++) {
      const before = sourceNs()
      const wall = wallNs()
      const spanNs = sourceNs() - before
      if (spanNs < best.spanNs) best = { spanNs, offsetNs: wall - before }
    }
    return best.offsetNs
  }
}
