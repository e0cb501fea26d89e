/**
 * How long sources have been silent, and how long they usually are: the longest pause of the last ones, as seen from one look to the next.
 *
 * @typedef {import('../stats/meter.js').Meter} Meter
 * @typedef {object} Silent
 * @property {number} silentMs
 * @property {number|null} usualMs  null while it is not known
 * @property {number} limitMs  from when on that is unusual
 * @property {boolean} hasSent  since the process started
 * @property {boolean} isExpected  to send now
 */

/** So many times what is usual is silence; of what sends often, some seconds are not worth a word. */
const TIMES = 4
const LEAST_MS = 30_000
/** What has hardly sent yet has so long; where nothing runs that would have to send, no limit at all. */
const UNKNOWN_MS = 900_000
/** After so many pauses it is known what is usual. */
const KNOWN_PAUSES = 10
/** A longer pause counts at once, a shorter one by and by. An outage must not pass for usual: one pause at most doubles it. */
const FORGETTING = 1 / 16
const MOST_TIMES = 2

export class Silence {
  /** @type {WeakMap<Meter, {batches: number, atMs: number, usualMs: number|null, pauses: number, isBroken: boolean}>} */
  #known = new WeakMap()

  /**
   * @param {Meter} meter
   * @param {number} nowMs  monotonic
   * @param {{isExpected: boolean, isStarted: boolean}} about  `isExpected`: it should send now; `isStarted`: something runs whose only
   *   purpose is to send
   * @returns {Silent}
   */
  look (meter, nowMs, { isExpected, isStarted }) {
    const its = this.#known.get(meter) ?? { batches: meter.batches, atMs: nowMs, usualMs: null, pauses: 0, isBroken: true }
    this.#known.set(meter, its)
    if (meter.batches !== its.batches) {
      if (!its.isBroken) this.#learn(its, nowMs - its.atMs)
      Object.assign(its, { batches: meter.batches, atMs: nowMs, isBroken: false })
    } else if (!isExpected) {
      Object.assign(its, { atMs: nowMs, isBroken: true })
    }
    const usual = Math.max(LEAST_MS, TIMES * (its.usualMs ?? 0))
    const limitMs = its.pauses >= KNOWN_PAUSES ? usual : isStarted ? Math.max(UNKNOWN_MS, usual) : Infinity
    return { silentMs: nowMs - its.atMs, usualMs: its.usualMs, limitMs, hasSent: meter.batches > 0, isExpected }
  }

  /** @param {{usualMs: number|null, pauses: number}} its @param {number} pauseMs */
  #learn (its, pauseMs) {
    const { usualMs } = its
    its.pauses++
    if (usualMs === null) its.usualMs = pauseMs
    else if (pauseMs > usualMs) its.usualMs = Math.min(pauseMs, MOST_TIMES * usualMs)
    else its.usualMs = usualMs + (pauseMs - usualMs) * FORGETTING
  }
}
