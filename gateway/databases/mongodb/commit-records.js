import { createHash } from 'node:crypto'
import { mergedRecords, recordKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { createIndex } from './collections.js'
import { WRITE_CONCERN } from './insert.js'

/**
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('mongodb').Db} Db
 * @typedef {CommitRow & {_id: string, of: string}} StoredRecord  `of` stands for table, gateway, source and epoch, which may be too long
 *   for an index
 */

const DUPLICATE_KEY = 11000

/** The commit records of a database: each follows the documents that it vouches for. */
export class CommitRecords {
  #db
  /** @type {import('mongodb').Collection<StoredRecord>} */
  #collection

  /** @param {Db} db */
  constructor (db) {
    this.#db = db
    this.#collection = db.collection(COMMITS_TABLE, {
      readConcern: { level: 'majority' }, readPreference: 'primary', writeConcern: WRITE_CONCERN
    })
  }

  /** @param {import('../../base/log.js').Log} [log] */
  async prepare (log) {
    await createIndex(this.#db, COMMITS_TABLE, { of: 1, last: 1 }, log)
  }

  /**
   * @param {Omit<CommitRow, 'last'>[]} wanted
   * @returns {Promise<Set<string>>} the keys of those that have a record
   */
  async find (wanted) {
    /** @type {Set<string>} */
    const found = new Set()
    for (const [of, rows] of Map.groupBy(wanted, groupOf)) {
      const seqs = rows.map(({ seq }) => seq)
      const overlapping = { of, last: { $gte: Math.min(...seqs) }, seq: { $lte: Math.max(...seqs) } }
      const records = await this.#collection.find(overlapping, { projection: { seq: 1, last: 1 } }).toArray()
      for (const row of rows) {
        if (records.some(({ seq, last }) => seq <= row.seq && row.seq <= last)) found.add(recordKey(row))
      }
    }
    return found
  }

  /**
   * Leaves the records of batches whose documents are stored.
   * @param {Omit<CommitRow, 'last'>[]} rows
   * @returns {Promise<Set<string>>} the keys of those that another writer has left in the meantime
   */
  async leave (rows) {
    if (rows.length === 0) return new Set()
    try {
      await this.#collection.insertMany(rows.map(row => recordOf({ ...row, last: row.seq })), { ordered: false })
      return new Set()
    } catch (error) {
      const errors = [/** @type {any} */ (error).writeErrors ?? []].flat()
      if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error
      return new Set(errors.map(({ index }) => recordKey(rows[index])))
    }
  }

  /** @returns {Promise<CommitRow[]>} */
  async read () {
    const records = await this.#collection.find().toArray()
    return records.map(({ table, gateway, source, epoch, seq, last }) => ({ table, gateway, source, epoch, seq, last }))
  }

  /**
   * Each seq has a record at any time: the one that replaces others is widened before they are deleted.
   * @param {import('../sink.js').Head[]} heads
   * @param {(row: CommitRow) => boolean} isOwn  of those to merge
   */
  async compact (heads, isOwn) {
    for (const row of mergedRecords((await this.read()).filter(isOwn), heads)) {
      const { _id, of } = recordOf(row)
      await this.#collection.updateOne({ _id }, { $max: { last: row.last } })
      await this.#collection.deleteMany({ of, seq: { $gt: row.seq }, last: { $gt: row.seq, $lte: row.last } })
    }
  }
}

/** @param {Omit<CommitRow, 'seq'|'last'>} row */
function groupOf ({ table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([table, gateway, source, epoch])).digest('hex').slice(0, 32)
}

/** @param {CommitRow} row @returns {StoredRecord} */
function recordOf ({ table, gateway, source, epoch, seq, last }) {
  const of = groupOf({ table, gateway, source, epoch })
  return { _id: `${of} ${seq}`, of, table, gateway, source, epoch, seq, last }
}
