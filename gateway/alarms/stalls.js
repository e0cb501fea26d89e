/** Since when rows wait in spools, and nothing is stored of what they have. */
export class Stalls {
  /** As of when something was stored last. @type {Map<string, {accepted: number, stored: string, sinceMs: number, hasStored: boolean}>} */
  #known = new Map()

  /**
   * @param {string} id  of the spool, or of one of its sinks
   * @param {{accepted: number, stored: string}} now  how much it has accepted, 0 while all is stored; what changes whenever something is
   * @param {number} nowMs  monotonic
   * @returns {{ms: number, hasGrown: boolean, hasStored: boolean}} for how long; whether rows have come since; whether something has been
   *   stored since the first look
   */
  look (id, { accepted, stored }, nowMs) {
    const its = this.#known.get(id)
    if (its?.stored === stored && its.accepted <= accepted && accepted > 0) {
      return { ms: Math.round(nowMs - its.sinceMs), hasGrown: its.accepted < accepted, hasStored: its.hasStored }
    }
    const hasStored = its !== undefined && (its.hasStored || its.stored !== stored)
    this.#known.set(id, { accepted, stored, sinceMs: nowMs, hasStored })
    return { ms: 0, hasGrown: false, hasStored }
  }
}
