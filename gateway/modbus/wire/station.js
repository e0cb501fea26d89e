import { systemClock } from '../../clock/system-clock.js'
import { backoff } from '../../base/backoff.js'
import { QuietLog } from '../../base/log.js'
import { badReply, busy, closed, disconnected, refused, silent, timedOut } from './errors.js'
import { Job } from './job.js'

/**
 * @typedef {object} Health  live
 * @property {'connecting'|'good'|'silent'|'disconnected'} state  connecting: not answered yet
 * @property {number|null} latencyMs  smoothed; null before the first answer
 * @property {number} requests  sent
 * @property {number} retries  of them, those repeated because the device was busy
 * @property {number} timeouts
 * @property {number} exceptions
 * @property {number} badReplies
 * @property {number} disconnects  not counted where a device that had answered closed the connection and accepted the next one at once
 * @property {number|null} lastGoodMs  when it last answered a request with data, in milliseconds of the sources' clock
 * @property {number} queued  waiting requests
 *
 * @typedef {object} StationOptions
 * @property {number} unit
 * @property {number} timeoutMs
 * @property {number} pauseBetweenMs
 * @property {number} pauseAfterConnectMs
 * @property {number} pipeline
 * @property {number} busyRetries
 * @property {number} minBackoffMs  after the first missing answer
 * @property {number} longestRetryMs
 */

const MAX_WAITING = 1000
const BUSY_PAUSE_MS = 100
const SMOOTHING = 1 / 8
const STILL_AT_WORK = 5
const BUSY = 6
const BEHIND_GATEWAY = [10, 11]

/**
 * One device on a line: the requests waiting for it, its health, and when it may be asked again. After a missing answer it is silent:
 * waiting requests are rejected at once, and so are those made before the pause is over; the next one after that is the probe.
 */
export class Station {
  /** pending requests */
  #asked = new Set()
  /** @type {Job[]} */
  #waiting = []
  #silences = 0
  /** start of the last silence: requests sent before are part of it */
  #silentSinceMs = -Infinity
  #askAgainMs = 0
  #restsUntilMs = 0
  /** @type {unknown} */
  #downError = null
  #isClosed = false
  #isTroubled = false
  #random
  #log
  #wake

  /**
   * @param {string} endpoint @param {StationOptions} options
   * @param {{log?: import('../../base/log.js').Log, random: () => number, wake: () => void}} context  `wake`: a request waits
   */
  constructor (endpoint, options, { log, random, wake }) {
    this.options = options
    this.where = `Unit ${options.unit} at ${endpoint}`
    this.#random = random
    this.#log = new QuietLog(log, () => performance.now())
    this.#wake = wake
    const waiting = this.#waiting
    /** @type {Health} */
    this.health = {
      state: 'connecting',
      latencyMs: null,
      requests: 0,
      retries: 0,
      timeouts: 0,
      exceptions: 0,
      badReplies: 0,
      disconnects: 0,
      lastGoodMs: null,
      get queued () { return waiting.length }
    }
  }

  /** @param {import('./pdu.js').Request} request @param {AbortSignal} [signal] */
  async ask (request, signal) {
    signal?.throwIfAborted()
    const refusal = this.#refusal()
    if (refusal) throw refusal
    const job = new Job(request, signal, aborted => this.#forget(aborted))
    this.#waiting.push(job)
    this.#wake()
    return job.promise
  }

  /** Whether this device permits a request now: until it has answered, it gets one at a time. */
  get wants () {
    return this.#waiting.length > 0 && this.#asked.size < (this.isGood ? this.options.pipeline : 1)
  }

  get isGood () { return this.health.state === 'good' }

  /** The earliest next request, in milliseconds of the monotonic clock. */
  get readyMs () { return this.#restsUntilMs }

  /** The next request, which is then pending. */
  take () {
    const job = /** @type {Job} */ (this.#waiting.shift())
    this.#asked.add(job)
    this.health.requests++
    return job
  }

  /** @param {boolean} [isRenewed]  the connection, which a device had closed: nothing else is new */
  connected (isRenewed = false) {
    this.#restsUntilMs = performance.now() + this.options.pauseAfterConnectMs
    if (isRenewed) return
    this.health.state = 'connecting'
    this.#askAgainMs = 0
    this.#silentSinceMs = -Infinity
  }

  /**
   * The connection was closed before the answer came. A read is sent once more, on the next one; a write may have been done.
   * @param {Job} job @param {unknown} reason
   */
  lost (job, reason) {
    this.#asked.delete(job)
    if (this.#isClosed || job.isSettled) return
    if (job.wasLost || job.request.byteCount === null) return job.reject(disconnected(this.where, reason))
    job.wasLost = true
    this.#waiting.unshift(job)
  }

  /** @param {unknown} error @param {boolean} wasUp */
  disconnected (error, wasUp) {
    this.#downError = disconnected(this.where, error)
    this.health.state = 'disconnected'
    if (wasUp) this.health.disconnects++
    this.#trouble('disconnected', `${/** @type {Error} */ (this.#downError).message} Trying again until it is.`)
    this.#rejectAll(this.#downError)
  }

  /** @param {Job} job @param {import('./pdu.js').Answer} answer @param {number} sentMs */
  answered (job, answer, sentMs) {
    this.#asked.delete(job)
    if (this.#isClosed) return
    if ('problem' in answer) return this.#misanswered(job, answer.problem)
    if ('exception' in answer && BEHIND_GATEWAY.includes(answer.exception)) return this.#unreachable(job, answer.exception, sentMs)
    this.#alive(performance.now() - sentMs)
    if ('exception' in answer) return this.#excepted(job, answer.exception)
    this.health.lastGoodMs = Number(systemClock.nowNs() / 1_000_000n)
    job.resolve(answer.values)
  }

  /** The device has answered, perhaps an earlier request: repeats this one. @param {Job} job */
  repeat (job) {
    this.#asked.delete(job)
    if (this.#isClosed || job.isSettled) return
    job.isRepeated = true
    this.#waiting.unshift(job)
  }

  /**
   * No answer came in time.
   * @param {Job} job @param {{sentMs: number, waitMs: number, problem?: string}} wait  `problem`: what came instead of an answer
   */
  unanswered (job, { sentMs, waitMs, problem }) {
    this.#asked.delete(job)
    if (this.#isClosed) return
    if (problem) this.health.badReplies++
    else this.health.timeouts++
    const error = problem ? badReply(this.where, problem) : timedOut(this.where, waitMs)
    job.reject(error)
    this.#fallSilent(sentMs, error.message)
  }

  /**
   * Another node's request to the same device timed out: a late answer to it could not be distinguished from one to a request of this node.
   * @param {number} sentMs
   */
  unansweredElsewhere (sentMs) {
    this.#fallSilent(sentMs, `${this.where} did not answer another node's request.`)
  }

  /** Bytes came after it was given up: it is left alone until they have passed. */
  cameLate () {
    this.#askAgainMs = Math.max(this.#askAgainMs, performance.now() + this.options.minBackoffMs)
    this.#log.say('warn', 'late', `${this.where} answers after its timeout of ${this.options.timeoutMs} ms. Make that longer.`)
  }

  close () {
    this.#isClosed = true
    this.#rejectAll(closed(this.where))
  }

  #refusal () {
    const { health } = this
    if (this.#isClosed) return closed(this.where)
    if (health.state === 'disconnected') return this.#downError
    const retryInMs = this.#askAgainMs - performance.now()
    if (health.state === 'silent' && retryInMs > 0) return silent(this.where, retryInMs)
    if (this.#waiting.length >= MAX_WAITING) return busy(this.where, MAX_WAITING)
  }

  /** @param {Job} job @param {number} exception */
  #excepted (job, exception) {
    const isBusy = exception === BUSY || exception === STILL_AT_WORK
    if (isBusy && job.tries < this.options.busyRetries && !job.isSettled) {
      this.#restsUntilMs = performance.now() + backoff(job.tries++, { first: BUSY_PAUSE_MS, max: Infinity })
      this.health.retries++
      this.#waiting.unshift(job)
      return
    }
    this.health.exceptions++
    job.reject(refused(this.where, exception))
  }

  /** @param {Job} job @param {string} problem */
  #misanswered (job, problem) {
    this.health.badReplies++
    job.reject(badReply(this.where, problem))
  }

  /** A gateway answers instead of the device. @param {Job} job @param {number} exception @param {number} sentMs */
  #unreachable (job, exception, sentMs) {
    this.health.exceptions++
    const error = refused(this.where, exception)
    job.reject(error)
    this.#fallSilent(sentMs, error.message)
  }

  /** @param {number} latencyMs */
  #alive (latencyMs) {
    const { health } = this
    health.latencyMs = health.latencyMs === null ? latencyMs : health.latencyMs + (latencyMs - health.latencyMs) * SMOOTHING
    health.state = 'good'
    this.#silences = 0
    this.#silentSinceMs = -Infinity
    if (!this.#isTroubled) return
    this.#isTroubled = false
    this.#log.say('info', 'good', `${this.where} answers again.`)
  }

  /** @param {number} sentMs @param {string} why */
  #fallSilent (sentMs, why) {
    const nowMs = performance.now()
    if (sentMs > this.#silentSinceMs) {
      const { minBackoffMs, longestRetryMs } = this.options
      const pauseMs = backoff(this.#silences++, { first: minBackoffMs, max: Math.max(minBackoffMs, longestRetryMs) })
      this.#askAgainMs = nowMs + pauseMs * (1 + this.#random() / 4)
      this.#silentSinceMs = nowMs
    }
    this.health.state = 'silent'
    this.#trouble('silent', `${why} It is asked less and less often until it does.`)
    const retryInMs = this.#askAgainMs - nowMs
    for (const job of this.#waiting.splice(0)) job.reject(silent(this.where, retryInMs))
  }

  /** @param {string} topic @param {string} text */
  #trouble (topic, text) {
    this.#isTroubled = true
    this.#log.say('warn', topic, text)
  }

  /** @param {unknown} error */
  #rejectAll (error) {
    for (const job of [...this.#asked, ...this.#waiting.splice(0)]) job.reject(error)
    this.#asked.clear()
  }

  /** @param {Job} job */
  #forget (job) {
    const at = this.#waiting.indexOf(job)
    if (at >= 0) this.#waiting.splice(at, 1)
  }
}
