import { backoff } from '../../gateway/base/backoff.js'
import { RangeSet } from '../../gateway/batch/ranges.js'

/** On average 1 s at first and 30 s at last, a quarter more or less. */
const BACKOFF_MS = { first: 1250, max: 37_500, jitter: 0.4 }

/**
 * @typedef {{epoch: string, first: number, last: number}} Missing  a range of batches
 * @typedef {object} Request  the last one made for a stream
 * @property {Map<string, RangeSet>} requested  by epoch
 * @property {number} outstanding  batches that had not come when last looked at
 * @property {number} attempt  how often nothing of it has come
 * @property {number} untilMs
 */

/**
 * When to ask a spool to resend what is missing: what is requested has time to come, longer each time that nothing does; once all of it
 * has come, the next is requested at once.
 */
export class ResendRequests {
  /** @type {Map<string, Request>} by stream */
  #requests = new Map()

  /** @param {() => number} [nowMs]  monotonic */
  constructor (nowMs = () => performance.now()) {
    this.nowMs = nowMs
  }

  /**
   * @param {string} stream
   * @param {Missing[]} missing  now
   * @returns {Record<string, [number, number][]>|null} ranges by epoch to request now
   */
  next (stream, missing) {
    const request = this.#requests.get(stream)
    const now = this.nowMs()
    const outstanding = request ? countRequested(request, missing) : 0
    if (request && outstanding > 0) {
      if (outstanding < request.outstanding) Object.assign(request, { outstanding, attempt: 0, untilMs: now + 1000 })
      if (now < request.untilMs) return null
    }
    if (missing.length === 0) {
      this.#requests.delete(stream)
      return null
    }
    const attempt = request && outstanding > 0 ? request.attempt + 1 : 0
    /** @type {Map<string, RangeSet>} */
    const requested = new Map()
    for (const { epoch, first, last } of missing) {
      const ranges = requested.get(epoch) ?? new RangeSet()
      ranges.add(first, last)
      requested.set(epoch, ranges)
    }
    this.#requests.set(stream, { requested, outstanding: countOf(missing), attempt, untilMs: now + backoff(attempt, BACKOFF_MS) })
    return Object.fromEntries([...requested].map(([epoch, { ranges }]) => [epoch, ranges]))
  }

  /** A new connection: the last requests may never have arrived. */
  clear () {
    this.#requests.clear()
  }
}

/** How many of the missing batches were requested. @param {Request} request @param {Missing[]} missing */
function countRequested ({ requested }, missing) {
  return missing.reduce((sum, { epoch, first, last }) => {
    const gaps = requested.get(epoch)?.missing(first, last) ?? [[first, last]]
    return sum + last - first + 1 - gaps.reduce((others, [from, to]) => others + to - from + 1, 0)
  }, 0)
}

/** @param {Missing[]} ranges */
function countOf (ranges) {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
}
