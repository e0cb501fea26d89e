const DEFAULT_GAP_NS = 1_000_000n
/** Nobody waits for more: 146 years. */
const MAX_NS = 2 ** 62

/** When the frames of a log play: as far from the first as in the log, or as speed has it. Each round continues the last. */
export class Playback {
  #speed
  #roundStartNs
  /** @type {bigint|null} */
  #firstLogNs = null
  #latestNs

  /**
   * @param {number} speed  2 plays twice as fast; 0 keeps the distances of the log, as 1 does
   * @param {bigint} startNs  when the first frame plays, since 1970
   */
  constructor (speed, startNs) {
    this.#speed = speed || 1
    this.#roundStartNs = startNs
    this.#latestNs = startNs
  }

  /** When a frame plays. @param {bigint} logNs  its time in the log */
  at (logNs) {
    this.#firstLogNs ??= logNs
    const sinceFirstNs = logNs - this.#firstLogNs
    const ns = this.#roundStartNs + (this.#speed === 1 ? sinceFirstNs : BigInt(Math.min(Math.round(Number(sinceFirstNs) / this.#speed), MAX_NS)))
    if (ns > this.#latestNs) this.#latestNs = ns
    return ns
  }

  /** All frames to come play later. @param {bigint} ns */
  pause (ns) {
    this.#roundStartNs += ns
    this.#latestNs += ns
  }

  /** The next round begins one mean distance of frames after the last frame. @param {number} frames  in the round that ends */
  endRound (frames) {
    const gap = frames > 1 ? (this.#latestNs - this.#roundStartNs) / BigInt(frames - 1) : 0n
    this.#latestNs = this.#roundStartNs = this.#latestNs + (gap > 0n ? gap : DEFAULT_GAP_NS)
    this.#firstLogNs = null
  }
}
