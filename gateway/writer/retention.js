import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from '../base/errors.js'
import { formatTime } from '../batch/time.js'
import { everySecond } from '../clock/heartbeat.js'
import { nowNs, wallClock } from '../clock/system-clock.js'

/**
 * @typedef {Pick<import('../databases/sink.js').Sink, 'span'|'removeBefore'>} AgingSink
 *
 * @typedef {object} RetentionClock
 * @property {() => void} start
 * @property {() => bigint|null} now  nanoseconds since 1970; null while the machine's clock is not set
 * @property {() => number} monotonicMs
 * @property {(ms: number, signal: AbortSignal) => Promise<unknown>} sleep  ends early when the signal fires
 */

const NS_PER_MS = 1_000_000
const DAY_MS = 86_400_000

/** What is to be kept for a long time is looked at seldom. */
const CHECKS = 100
const MAX_CHECK_MS = 3_600_000

/** Rows go by this part of the time that they are kept: a few at a time would cost a disk as much for each as many at once. */
const LUMPS = 20n

/** A clock has to be right for so long, and to have made no such step forward, before anything is removed by it. */
const TRUST_MS = 600_000
const STEP_MS = 60_000

/**
 * A turn should take so long, and rest longer: what is delivered meanwhile goes in between. On a slow card most of it is waiting for the
 * disk, and fewer rows would only be more turns, each of which writes the same pages again.
 */
const TURN_MS = 20
const REST = 9
const MIN_ROWS = 1000
const MAX_ROWS = 100_000

/** @type {RetentionClock} */
const systemClock = {
  start: () => wallClock.start(),
  now: () => wallClock.state === 'set' ? nowNs() : null,
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { ref: false, signal }).catch(() => {})
}

/**
 * Removes rows of a sink that are older than it keeps them, between its batches, in turns that are short. A wrong clock must not empty a
 * database: none is removed before the clock is known to be right, nor by a time that is later than the newest row's.
 */
export class Retention {
  #sink
  #keepNs
  #checkMs
  #meter
  #log
  #clock
  #stop
  #closed = new AbortController()
  #maxRows = MIN_ROWS
  /** Of the last look at the clock. @type {{ns: bigint, ms: number}|null} */
  #last = null
  /** When the clock had made no step for long enough. */
  #trustedMs = Infinity
  #dueMs = 0
  /** @type {Promise<void>|null} */
  #running = null
  /** @type {bigint|null} */
  #oldest = null
  #problem = ''

  /**
   * @param {object} setup
   * @param {AgingSink} setup.sink
   * @param {number} setup.keepDays
   * @param {{expired: number}} setup.meter
   * @param {import('../base/log.js').Log} [setup.log]
   * @param {RetentionClock} [setup.clock]
   */
  constructor ({ sink, keepDays, meter, log, clock = systemClock }) {
    this.#sink = sink
    this.#keepNs = BigInt(Math.ceil(keepDays * DAY_MS)) * BigInt(NS_PER_MS)
    this.#checkMs = Math.min(MAX_CHECK_MS, keepDays * DAY_MS / CHECKS)
    this.#meter = meter
    this.#log = log
    this.#clock = clock
    clock.start()
    this.#stop = everySecond(() => { this.check() })
  }

  /** For the live page. @returns {{oldestRow: string, retention?: string}} */
  state () {
    return { oldestRow: this.#oldest === null ? '' : formatTime(this.#oldest), ...this.#problem !== '' && { retention: this.#problem } }
  }

  /** Removes what is due; the same happens every second. @returns {Promise<void>} */
  check () {
    const now = this.#trustedNow()
    const ms = this.#clock.monotonicMs()
    if (this.#isClosed || now === null || ms < this.#dueMs) return Promise.resolve()
    this.#dueMs = ms + this.#checkMs
    this.#running ??= this.#run(now).finally(() => { this.#running = null })
    return this.#running
  }

  /** Begins no other turn. */
  close () {
    this.#closed.abort()
    this.#stop()
  }

  get #isClosed () { return this.#closed.signal.aborted }

  /** The time, once the clock can be trusted. @returns {bigint|null} */
  #trustedNow () {
    const ns = this.#clock.now()
    const ms = this.#clock.monotonicMs()
    const stepMs = ns === null || this.#last === null ? Infinity : Number(ns - this.#last.ns) / NS_PER_MS - (ms - this.#last.ms)
    if (stepMs > STEP_MS) this.#trustedMs = ms + TRUST_MS
    this.#last = ns === null ? null : { ns, ms }
    return ms < this.#trustedMs ? null : ns
  }

  /** @param {bigint} now */
  async #run (now) {
    try {
      const span = await this.#look()
      if (!span) return
      const before = (span.newest < now ? span.newest : now) - this.#keepNs
      if (span.oldest < before - this.#keepNs / LUMPS) {
        await this.#remove(before)
        await this.#look()
      }
      this.#problem = ''
    } catch (error) {
      const problem = describe(error)
      if (problem !== this.#problem && !this.#isClosed) this.#log?.warn(`Rows that are too old stay: ${problem}`)
      this.#problem = problem
    }
  }

  async #look () {
    const span = await this.#sink.span?.() ?? null
    this.#oldest = span && span.oldest
    return span
  }

  /** @param {bigint} before */
  async #remove (before) {
    while (!this.#isClosed) {
      const maxRows = this.#maxRows
      const beganMs = this.#clock.monotonicMs()
      const rows = await this.#sink.removeBefore?.(before, { maxRows }) ?? 0
      const tookMs = this.#clock.monotonicMs() - beganMs
      this.#meter.expired += rows
      if (rows < maxRows) return
      const fitting = maxRows * Math.min(2, TURN_MS / Math.max(tookMs, 1))
      this.#maxRows = Math.round(Math.min(MAX_ROWS, Math.max(MIN_ROWS, fitting)))
      await this.#clock.sleep(tookMs * REST, this.#closed.signal)
    }
  }
}
