import { SluiceError } from '../base/errors.js'
import { counterOf } from '../batch/epochs.js'
import { recordKey } from './commit-records.js'

/**
 * @typedef {import('./claims.js').Claim} Claim
 * @typedef {import('./commit-records.js').CommitRow} CommitRow
 */

export const SET_BACK = 'SLUICE_SINK_SET_BACK'

/** Of a reading: with more, the first write would take long. */
const MAX_READ = 16

/**
 * The last records that a sink knows its database to have. A database that was restored, replaced, or taken over by a copy that lags behind
 * lacks them: each transaction looks for them before it stores more.
 *
 * There are several while transactions run side by side, since it is not known which of them committed last.
 */
export class LastRecords {
  /** @type {Map<string, Claim>} */
  #last = new Map()

  /** What the next transaction must find. */
  get all () { return [...this.#last.values()] }

  /** A transaction has committed records: after these, which it found. @param {Claim[]} found @param {CommitRow[]} records */
  committed (found, records) {
    if (records.length === 0) return
    this.forget(found)
    const last = records[records.length - 1]
    this.#last.set(recordKey(last), last)
  }

  /**
   * All records were read. What is missing in them is not looked for any more.
   * @param {Claim[]} before  `all` of when the reading began
   * @param {CommitRow[]} rows
   * @returns {boolean} whether something is
   */
  read (before, rows) {
    const missing = before.filter(claim => !rows.some(row => holds(row, claim)))
    this.forget(missing)
    if (this.#last.size > 0) return missing.length > 0
    const newest = new Map(rows.toSorted(byAge).map(row => [JSON.stringify([row.gateway, row.source]), row]))
    for (const row of [...newest.values()].slice(0, MAX_READ)) this.committed([], [row])
    return missing.length > 0
  }

  /** @param {Claim[]} claims */
  forget (claims) {
    for (const claim of claims) this.#last.delete(recordKey(claim))
  }
}

/** Whether it is the record of a batch. @param {CommitRow} row @param {Claim} claim */
function holds (row, { table, gateway, source, epoch, seq }) {
  return row.seq <= seq && seq <= row.last && row.epoch === epoch && row.source === source && row.gateway === gateway && row.table === table
}

/** @param {string} place  the database */
export function setBack (place) {
  const what = 'commit records that this sink left are gone: the database was set back, or another has taken its place'
  return new SluiceError(SET_BACK, `${place}: ${what}.`, {
    fix: 'Nothing has to be done: what is missing is stored again, as far as spools still have it.'
  })
}

/** @param {CommitRow} a @param {CommitRow} b */
function byAge (a, b) {
  return counterOf(a.epoch) - counterOf(b.epoch) || a.seq - b.seq
}
