import { LastRecords, setBack } from './set-back.js'

/**
 * Looks for the last records of a sink where that takes a query of its own, which before each write would cost much of the throughput:
 * before a duplicate or a clash is reported, since only there is memory trusted, and once a second. What is stored in between in a database
 * that was set back is not lost by it: it is in the next reading, and the records from before it are still looked for.
 *
 * @typedef {import('./claims.js').Claim} Claim
 */

const CHECK_MS = 1000

export class SeldomCheck extends LastRecords {
  #checkedMs = -Infinity

  /**
   * @template {Claim} C
   * @param {boolean} isDue  in any case
   * @param {(claims: Claim[]) => Promise<C[]>} missingOf  those of which the database has nothing
   * @param {string} place  the database
   * @returns {Promise<Claim[]>} those that are there
   * @throws {import('../base/errors.js').SluiceError} SLUICE_SINK_SET_BACK
   */
  async find (isDue, missingOf, place) {
    if (!isDue && performance.now() - this.#checkedMs < CHECK_MS) return []
    this.#checkedMs = performance.now()
    const last = this.all
    const missing = last.length === 0 ? [] : await missingOf(last)
    if (missing.length === 0) return last
    this.forget(missing)
    throw setBack(place)
  }
}
