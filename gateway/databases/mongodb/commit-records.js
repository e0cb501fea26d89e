import { createHash } from 'node:crypto'
import { RECORD_NAMES, RECORD_NUMBERS } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { oldRecords } from '../old-records.js'
import { createIndex } from './collections.js'
import { WRITE_CONCERN } from './insert.js'

/**
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('mongodb').Db} Db
 * @typedef {CommitRow & {_id: string, of?: string}} StoredRecord  `of` stands for table, gateway, source and epoch, which may be too long
 *   for an index; the document without one has the id of the database in place of a gateway
 */

const DUPLICATE_KEY = 11000
const STORE = 'store'

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

  /** Those that hold these, among others. @param {Claim[]} claims @returns {Promise<CommitRow[]>} */
  async find (claims) {
    const found = await Promise.all(Array.from(Map.groupBy(claims, groupOf), ([of, its]) => {
      const seqs = its.map(({ seq }) => seq)
      return this.#collection.find({ of, last: { $gte: Math.min(...seqs) }, seq: { $lte: Math.max(...seqs) } }).toArray()
    }))
    return found.flat().map(rowOf)
  }

  /**
   * Leaves the records of batches whose documents are stored.
   * @param {CommitRow[]} rows
   * @returns {Promise<CommitRow[]>} those that another writer has left in the meantime
   */
  async leave (rows) {
    if (rows.length === 0) return []
    try {
      await this.#collection.insertMany(rows.map(recordOf), { ordered: false })
      return []
    } catch (error) {
      const errors = [/** @type {any} */ (error).writeErrors ?? []].flat()
      if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error
      return errors.map(({ index }) => rows[index])
    }
  }

  /** @returns {Promise<CommitRow[]>} */
  async read () {
    return (await this.#collection.find().toArray()).map(rowOf)
  }

  /** @param {string} id  of the database, where it has none */
  async nameStore (id) {
    const numbers = /** @type {any} */ (Object.fromEntries(RECORD_NUMBERS.map(name => [name, 0])))
    try {
      await this.#collection.insertOne({ _id: STORE, table: '', gateway: id, source: '', epoch: '', ...numbers })
    } catch (error) {
      if (/** @type {any} */ (error).code !== DUPLICATE_KEY) throw error
    }
  }

  /** @param {CommitRow[]} records */
  async merge (records) {
    for (const row of records) {
      const { _id, of, ...merged } = recordOf(row)
      // Another may have widened it further.
      await this.#collection.updateOne({ _id, last: { $lt: row.last } }, { $set: merged })
      await this.#collection.deleteMany({ of, seq: { $gt: row.seq }, last: { $gt: row.seq, $lte: row.last } })
    }
  }
}

/** @param {import('../commit-records.js').Stream} row */
function groupOf ({ table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([table, gateway, source, epoch])).digest('hex').slice(0, 32)
}

/** @param {CommitRow} row @returns {StoredRecord} */
function recordOf (row) {
  const of = groupOf(row)
  return { _id: `${of} ${row.seq}`, of, ...rowOf(row) }
}

/** Without what only serves the collection. @param {CommitRow} record */
function rowOf (record) {
  if (record.hash === undefined) throw oldRecords('MongoDB')
  const names = /** @type {const} */ (['table', ...RECORD_NAMES, ...RECORD_NUMBERS])
  return /** @type {CommitRow} */ (Object.fromEntries(names.map(name => [name, record[name]])))
}
