/** Since when rows wait in spools, and nothing is stored of what they have. */
export class Stalls {
  /** As of when something was stored last, by spool. @type {Map<string, {accepted: number, stored: string, sinceMs: number}>} */
  #known = new Map()

  /**
   * @param {string} id  of the spool
   * @param {{accepted: number, stored: string}} now  how much it has accepted, 0 while all is stored; what changes whenever something is
   * @param {number} nowMs  monotonic
   * @returns {{ms: number, hasGrown: boolean}} for how long; whether rows have come since
   */
  look (id, { accepted, stored }, nowMs) {
    const its = this.#known.get(id)
    if (its?.stored === stored && its.accepted <= accepted && accepted > 0) {
      return { ms: Math.round(nowMs - its.sinceMs), hasGrown: its.accepted < accepted }
    }
    this.#known.set(id, { accepted, stored, sinceMs: nowMs })
    return { ms: 0, hasGrown: false }
  }
}
