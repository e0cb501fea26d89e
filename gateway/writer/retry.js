import { backoff } from '../base/backoff.js'
import { SluiceError, describe } from '../base/errors.js'

/**
 * What the writer needs of time; tests bring their own.
 * @typedef {object} Clock
 * @property {() => number} now  monotonic milliseconds
 * @property {(callback: () => void, ms: number) => any} setTimeout
 * @property {(timer: any) => void} clearTimeout
 */

const BACKOFF_MS = { first: 100, max: 30_000, jitter: 1 }

/**
 * Tries again without end, with exponential backoff and full jitter, until it is released; keeps who is trying, since when and why.
 * One for a writer: what its groups wait for is the same database.
 */
export class Retry {
  /** @type {string|null} why something is being tried again; null when nothing is */
  lastError = null
  /**
   * By group, its first failure: in milliseconds since 1970, as users see it, and by the clock, which nobody sets.
   * @type {Map<object, {sinceMs: number, beganMs: number}>}
   */
  #failing = new Map()
  /** @type {Set<() => void>} */
  #sleepers = new Set()
  #release = new AbortController()
  #isTransient
  #meter
  #clock
  #log

  /**
   * @param {object} setup
   * @param {(error: unknown) => boolean} setup.isTransient
   * @param {{retries: number}} setup.meter
   * @param {import('../base/log.js').QuietLog} setup.log
   * @param {Clock} setup.clock
   */
  constructor ({ isTransient, meter, log, clock }) {
    this.#isTransient = isTransient
    this.#meter = meter
    this.#clock = clock
    this.#log = log
  }

  get sinceMs () {
    return this.#failing.size > 0 ? Math.min(...Array.from(this.#failing.values(), ({ sinceMs }) => sinceMs)) : null
  }

  /**
   * @template T
   * @param {object} group  who is trying
   * @param {(signal: AbortSignal) => Promise<T>} step
   * @param {(error: unknown) => boolean} [isTransient]
   * @returns {Promise<T>} rejects with the first error that is not transient, or once released
   */
  async run (group, step, isTransient = this.#isTransient) {
    const { signal } = this.#release
    for (let attempt = 0; ;) {
      signal.throwIfAborted()
      try {
        return await step(signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!isTransient(error)) throw error
        attempt = await this.pause(group, error, attempt)
      }
    }
  }

  /**
   * Like `run`, of what may be refused.
   * @param {object} group
   * @param {(signal: AbortSignal) => Promise<unknown>} step
   * @returns {Promise<unknown>} the first error that is not transient, or null; rejects only once released
   */
  async refusal (group, step) {
    try {
      await this.run(group, step)
      return null
    } catch (error) {
      this.#release.signal.throwIfAborted()
      return error
    }
  }

  /**
   * Waits before the next attempt.
   * @param {object} group
   * @param {unknown} error
   * @param {number} attempt  0 for the first
   * @returns {Promise<number>} the number of the next attempt: counted from 0 again after `tryNow`
   */
  async pause (group, error, attempt) {
    this.#meter.retries++
    this.lastError = describe(error)
    this.#log.say('warn', this.lastError, `Cannot store, trying again until it works: ${this.lastError}`)
    if (!this.#failing.has(group)) this.#failing.set(group, { sinceMs: Date.now(), beganMs: this.#clock.now() })
    const isCutShort = await this.#sleep(backoff(attempt, BACKOFF_MS))
    this.#release.signal.throwIfAborted()
    return isCutShort ? 0 : attempt + 1
  }

  /** The group is stored or released. @param {object} group */
  over (group) {
    const failing = this.#failing.get(group)
    if (!failing) return
    this.#failing.delete(group)
    if (this.#failing.size > 0) return
    this.lastError = null
    if (this.#release.signal.aborted) return
    this.#log.say('info', 'again', `Storing again, after ${((this.#clock.now() - failing.beganMs) / 1000).toFixed(1)} s.`)
  }

  /** Whoever is waiting tries again now. */
  tryNow () {
    for (const wake of this.#sleepers) wake()
  }

  /** Ends all that is being tried. */
  release () {
    this.#release.abort(released())
    this.tryNow()
  }

  /** @param {number} ms @returns {Promise<boolean>} whether it was cut short */
  #sleep (ms) {
    return new Promise(resolve => {
      const end = (/** @type {boolean} */ isCutShort) => {
        this.#clock.clearTimeout(timer)
        this.#sleepers.delete(wake)
        resolve(isCutShort)
      }
      const wake = () => end(true)
      const timer = this.#clock.setTimeout(() => end(false), ms)
      this.#sleepers.add(wake)
      if (this.#release.signal.aborted) wake()
    })
  }
}

export function released () {
  return new SluiceError('SLUICE_WRITER_RELEASED', 'The writer was closed before the database had stored this batch.', {
    fix: 'Write it again: what has been stored nevertheless is recognised by its identity.'
  })
}
