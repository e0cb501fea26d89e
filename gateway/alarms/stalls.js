/** Since when rows come into spools, and nothing is stored of what they have. */
export class Stalls {
  /** As of when something was stored last, by spool. @type {Map<string, {accepted: number, stored: string, sinceMs: number}>} */
  #known = new Map()

  /**
   * @param {string} id  of the spool
   * @param {{accepted: number, stored: string}} now  how much it has accepted, 0 while all is stored; what changes whenever something is
   * @param {number} nowMs  monotonic
   * @returns {number} for so many ms; 0 while nothing new waits
   */
  look (id, { accepted, stored }, nowMs) {
    const its = this.#known.get(id)
    if (its?.stored === stored && its.accepted < accepted) return Math.round(nowMs - its.sinceMs)
    this.#known.set(id, { accepted, stored, sinceMs: nowMs })
    return 0
  }
}
