/** How much slower than real time corrected time runs while it waits for a wall clock that was put back: a tenth. */
const SLEW = 10n
const MAX_SEGMENTS = 16

/**
 * From the time that sources stamp by, which nothing ever steps, to the time of the wall clock. Corrected time always increases, whatever
 * the wall clock does: when that is put forward, it jumps; when that is put back, it runs a tenth slower until both agree.
 */
export class TimeLine {
  /** What holds from a time on, latest last. @type {{fromNs: bigint, correctionNs: bigint, targetNs: bigint}[]} */
  #segments

  /** @param {bigint} [correctionNs]  of all times, until it is changed */
  constructor (correctionNs = 0n) {
    this.#segments = [{ fromNs: -(2n ** 63n), correctionNs, targetNs: correctionNs }]
  }

  /** From this time on another correction holds. @param {bigint} fromNs @param {bigint} targetNs */
  change (fromNs, targetNs) {
    const correctionNs = this.correctionAt(fromNs)
    this.#segments.push({ fromNs, correctionNs: targetNs > correctionNs ? targetNs : correctionNs, targetNs })
    if (this.#segments.length <= MAX_SEGMENTS) return
    this.#segments.shift()
    this.#segments[0].fromNs = -(2n ** 63n)
  }

  /** What is to be added to a source's time. @param {bigint} ns */
  correctionAt (ns) {
    const { fromNs, correctionNs, targetNs } = this.#segmentAt(ns)
    if (correctionNs === targetNs) return correctionNs
    const slewedNs = correctionNs - (ns - fromNs) / SLEW
    return slewedNs > targetNs ? slewedNs : targetNs
  }

  /** How far corrected time is ahead of the wall clock. @param {bigint} ns  source's time */
  aheadAt (ns) {
    return this.correctionAt(ns) - this.#segmentAt(ns).targetNs
  }

  /** @param {bigint} ns  source's time */
  at (ns) {
    return ns + this.correctionAt(ns)
  }

  /** @param {bigint} ns */
  #segmentAt (ns) {
    let index = this.#segments.length - 1
    while (index > 0 && this.#segments[index].fromNs > ns) index--
    return this.#segments[index]
  }
}
