import { COMMITS_TABLE, quote } from '../names.js'
import { commitStatements } from '../sql/commit-records.js'

/** @typedef {import('../commit-records.js').CommitRow} CommitRow */

const STATEMENTS = commitStatements(quote(COMMITS_TABLE), { text: 'TEXT', integer: 'INTEGER' })

/** The commit records of one database file. */
export class CommitRecords {
  #claim
  #read
  #absorb
  #extend

  /** @param {import('node:sqlite').DatabaseSync} database */
  constructor (database) {
    database.exec(`${STATEMENTS.create} WITHOUT ROWID`)
    this.#claim = database.prepare(STATEMENTS.claim)
    this.#read = database.prepare(STATEMENTS.read)
    this.#absorb = database.prepare(STATEMENTS.absorb)
    this.#extend = database.prepare(STATEMENTS.extend)
  }

  /** Leaves the record of a batch. @param {import('../sql/sink.js').Claim} wanted @returns {boolean} false when there is one already */
  claim ({ table, gateway, source, epoch, seq }) {
    return this.#claim.run({ table, gateway, source, epoch, seq }).changes === 1
  }

  /** @returns {CommitRow[]} */
  read () {
    return /** @type {CommitRow[]} */ (/** @type {unknown} */ (this.#read.all()))
  }

  /** Puts a record in the place of those within it. @param {CommitRow} merged */
  replace ({ table, gateway, source, epoch, seq, last }) {
    this.#absorb.run({ table, gateway, source, epoch, seq, last })
    this.#extend.run({ table, gateway, source, epoch, seq, last })
  }
}
