import { RangeSet } from '../../gateway/batch/ranges.js'

const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 30_000

/**
 * @typedef {{epoch: string, first: number, last: number}} Lacking
 * @typedef {object} Ask
 * @property {Map<string, RangeSet>} asked
 * @property {number} outstanding  batches that had not come when last looked
 * @property {number} waitMs
 * @property {number} untilMs
 */

/**
 * When to ask a spool again for what is missing: what is asked for has time to come, longer each time that nothing does; once all of it
 * has,
 * the next is asked for at once.
 */
export class ResendRequests {
  /** @type {Map<string, Ask>} by stream */
  #asks = new Map()

  /** @param {() => number} [nowMs]  monotonic */
  constructor (nowMs = () => performance.now()) {
    this.nowMs = nowMs
  }

  /**
   * @param {string} stream
   * @param {Lacking[]} lacking  what is missing now
   * @returns {Record<string, [number, number][]>|null} ranges by epoch to ask for now
   */
  next (stream, lacking) {
    const ask = this.#asks.get(stream)
    const now = this.nowMs()
    const outstanding = ask ? countAsked(ask, lacking) : 0
    if (ask && outstanding > 0) {
      if (outstanding < ask.outstanding) Object.assign(ask, { outstanding, waitMs: FIRST_WAIT_MS, untilMs: now + FIRST_WAIT_MS })
      if (now < ask.untilMs) return null
    }
    if (lacking.length === 0) {
      this.#asks.delete(stream)
      return null
    }
    const waitMs = ask && outstanding > 0 ? Math.min(2 * ask.waitMs, MAX_WAIT_MS) : FIRST_WAIT_MS
    /** @type {Map<string, RangeSet>} */
    const asked = new Map()
    for (const { epoch, first, last } of lacking) {
      const ranges = asked.get(epoch) ?? new RangeSet()
      ranges.add(first, last)
      asked.set(epoch, ranges)
    }
    const outstandingNow = lacking.reduce((sum, { first, last }) => sum + last - first + 1, 0)
    this.#asks.set(stream, { asked, outstanding: outstandingNow, waitMs, untilMs: now + waitMs * (0.75 + Math.random() / 2) })
    return Object.fromEntries([...asked].map(([epoch, { ranges }]) => [epoch, ranges]))
  }

  /** A new connection: what was asked for may never have arrived. */
  clear () {
    this.#asks.clear()
  }
}

/** How many of the lacking batches were asked for. @param {Ask} ask @param {Lacking[]} lacking */
function countAsked ({ asked }, lacking) {
  return lacking.reduce((sum, { epoch, first, last }) => {
    const gaps = asked.get(epoch)?.missing(first, last) ?? [[first, last]]
    return sum + last - first + 1 - gaps.reduce((unasked, [from, to]) => unasked + to - from + 1, 0)
  }, 0)
}
