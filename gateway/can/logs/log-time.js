/** @typedef {import('../candump/line.js').Stamp} Stamp */

const UNTIMED_GAP_NS = 1_000_000n

/**
 * The time of each frame of a log, on one axis from the first frame to the last, whatever stamps candump was set to write.
 * Seconds since the last frame are added up; frames without a stamp follow each other by a millisecond.
 */
export class LogTime {
  #isDelta
  #lastNs = 0n

  /** @param {(Stamp|null)[]} firstStamps  the first of the log, which show whether seconds are since the last frame or the start */
  constructor (firstStamps) {
    const relativeNs = firstStamps.flatMap(stamp => stamp && !stamp.absolute ? [stamp.ns] : [])
    this.#isDelta = relativeNs.some((ns, i) => i > 0 && ns < relativeNs[i - 1])
  }

  /** @param {Stamp|null} stamp @returns {bigint} */
  next (stamp) {
    if (!stamp) this.#lastNs += UNTIMED_GAP_NS
    else if (stamp.absolute || !this.#isDelta) this.#lastNs = stamp.ns
    else this.#lastNs += stamp.ns
    return this.#lastNs
  }
}
