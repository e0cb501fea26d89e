import { everySecond } from './heartbeat.js'
import { TimeLine } from './time-line.js'

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
 * @property {() => Promise<boolean|undefined|null>} isSynchronised  what the kernel reports; undefined: nothing; null: not now
 * @property {number} [patienceMs]  how long samples wait for a clock to be set
 * @property {number} [verdictMs]  how long messages wait until it is known whether it is
 */

/**
 * Follows the machine's clock, which on a small computer without a battery is set only minutes after the start, and may be stepped at any
 * time.
 *
 * - `waiting`: it is not set (earlier than this software, or the kernel reports it unsynchronised); samples are to wait;
 * - `set`: `line` converts the sources' time to the wall clock's;
 * - `unsynchronised`: it was not set in time; samples go on, marked, until it is.
 *
 * `isWrong` only once something has said that it is not set: on a machine that is busy starting that may take a while, and `judged`
 * resolves then.
 */
export class WallClock {
  /** @type {'waiting'|'set'|'unsynchronised'} */
  state = 'waiting'
  line = new TimeLine()
  isWrong = false
  isJudged = false
  #verdict = Promise.withResolvers()
  #options
  #offsetNs = 0n
  /** @type {bigint|undefined} */
  #startedNs
  #askedNs = 0n
  #isAsking = false
  /** @type {Set<() => void>} */
  #waiting = new Set()
  /** @type {(() => void)|undefined} */
  #stop

  /** @param {WallClockOptions} options */
  constructor (options) {
    this.#options = { patienceMs: 120_000, verdictMs: 5000, ...options }
  }

  /** Resolves when it is first known whether the clock is set, or that it will not be known in time. @returns {Promise<unknown>} */
  get judged () { return this.#verdict.promise }

  /** Begins to follow the clock; samples wait from here on. */
  start () {
    if (this.#stop) return
    this.#startedNs = this.#options.sourceNs()
    this.#stop = everySecond(() => this.check())
    this.check()
  }

  stop () {
    this.#stop?.()
    this.#stop = undefined
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
    const { wallNs, releasedNs, patienceMs, verdictMs } = this.#options
    if (this.#waitedMs >= verdictMs) this.#judge()
    const isSet = wallNs() >= releasedNs ? await this.#isSynchronised() : false
    if (this.state === 'set') return // by another check meanwhile
    if (isSet === true || isSet === undefined) return this.#settle()
    if (isSet === false) {
      this.isWrong = true
      this.#judge()
    }
    if (this.state === 'waiting' && this.#waitedMs >= patienceMs) this.#enter('unsynchronised')
  }

  get #waitedMs () {
    const nowNs = this.#options.sourceNs()
    this.#startedNs ??= nowNs
    return Number((nowNs - this.#startedNs) / NS_PER_MS)
  }

  /** @returns {Promise<boolean|undefined|null>} */
  async #isSynchronised () {
    const { sourceNs, isSynchronised } = this.#options
    if (this.#isAsking || (this.state === 'unsynchronised' && sourceNs() - this.#askedNs < ASK_AGAIN_NS)) return null
    this.#askedNs = sourceNs()
    this.#isAsking = true
    try {
      return await isSynchronised()
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
    this.isWrong = state !== 'set'
    this.#judge()
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const settled of waiting) settled()
  }

  #judge () {
    this.isJudged = true
    this.#verdict.resolve(undefined)
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
