import { COMMITS_TABLE, quote } from '../names.js'
import { mergedRecords } from '../commit-records.js'

/**
 * @typedef {import('node:sqlite').DatabaseSync} DatabaseSync
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

const TABLE = quote(COMMITS_TABLE)
const EPOCH = 'sink_table = $table AND gateway = $gateway AND source = $source AND epoch = $epoch'

/** The commit records of one database file. */
export class CommitRecords {
  #claim
  #read
  #absorb
  #extend

  /** @param {DatabaseSync} database */
  constructor (database) {
    database.exec(`CREATE TABLE IF NOT EXISTS ${TABLE} (sink_table TEXT NOT NULL, gateway TEXT NOT NULL, source TEXT NOT NULL, epoch TEXT NOT NULL,
      seq INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (sink_table, gateway, source, epoch, seq)) WITHOUT ROWID`)
    // Ranges are disjoint, so only the nearest record at or below can hold the number.
    this.#claim = database.prepare(`INSERT INTO ${TABLE} SELECT $table, $gateway, $source, $epoch, $seq, $seq
      WHERE coalesce((SELECT last FROM ${TABLE} WHERE ${EPOCH} AND seq <= $seq ORDER BY seq DESC LIMIT 1) < $seq, true)`)
    this.#read = database.prepare(`SELECT sink_table AS "table", gateway, source, epoch, seq, last FROM ${TABLE}`)
    this.#absorb = database.prepare(`DELETE FROM ${TABLE} WHERE ${EPOCH} AND seq > $seq AND last <= $last`)
    this.#extend = database.prepare(`UPDATE ${TABLE} SET last = $last WHERE ${EPOCH} AND seq = $seq`)
  }

  /**
   * Leaves the record of a batch.
   * @param {string} table
   * @param {import('../../batch/batch.js').Identity} identity
   * @returns {boolean} false when there is one already
   */
  claim (table, { gateway, source, epoch, seq }) {
    return this.#claim.run({ table, gateway, source, epoch, seq }).changes === 1
  }

  /** @returns {CommitRow[]} */
  read () {
    return /** @type {CommitRow[]} */ (/** @type {unknown} */ (this.#read.all()))
  }

  /** Within a transaction. @param {CommitRow[]} rows @param {import('../sink.js').Head[]} heads */
  merge (rows, heads) {
    for (const { table, gateway, source, epoch, seq, last } of mergedRecords(rows, heads)) {
      this.#absorb.run({ table, gateway, source, epoch, seq, last })
      this.#extend.run({ table, gateway, source, epoch, seq, last })
    }
  }
}
