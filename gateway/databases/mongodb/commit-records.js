import { createHash, randomUUID } from 'node:crypto'
import { mergedRecords, RECORD_NAMES, RECORD_NUMBERS } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { oldRecords } from '../old-records.js'
import { RecordSet } from '../record-set.js'
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

  /** @param {Claim[]} claims @returns {Promise<RecordSet>} with the records of those that have one */
  async find (claims) {
    const found = new RecordSet()
    await Promise.all([...Map.groupBy(claims, groupOf)].map(async ([of, its]) => {
      const seqs = its.map(({ seq }) => seq)
      const overlapping = { of, last: { $gte: Math.min(...seqs) }, seq: { $lte: Math.max(...seqs) } }
      for (const record of await this.#collection.find(overlapping).toArray()) found.add(rowOf(record))
    }))
    return found
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

  /** @returns {Promise<{store: string, rows: CommitRow[]}>} `store`: the id of the database, made where there is none */
  async read () {
    const all = await this.#collection.find().toArray()
    const store = all.find(({ _id }) => _id === STORE)?.gateway ?? await this.#makeStore()
    return { store, rows: all.filter(({ of }) => of !== undefined).map(rowOf) }
  }

  /**
   * Each seq has a record at any time: the one that replaces others is widened before they are deleted.
   * @param {import('../sink.js').Head[]} heads
   * @param {(row: CommitRow) => boolean} isOwn  of those to merge
   */
  async compact (heads, isOwn) {
    for (const row of mergedRecords((await this.read()).rows.filter(isOwn), heads)) {
      const { _id, of, ...merged } = recordOf(row)
      // Another may have widened it further.
      await this.#collection.updateOne({ _id, last: { $lt: row.last } }, { $set: merged })
      await this.#collection.deleteMany({ of, seq: { $gt: row.seq }, last: { $gt: row.seq, $lte: row.last } })
    }
  }

  async #makeStore () {
    const numbers = /** @type {any} */ (Object.fromEntries(RECORD_NUMBERS.map(name => [name, 0])))
    try {
      await this.#collection.insertOne({ _id: STORE, table: '', gateway: randomUUID(), source: '', epoch: '', ...numbers })
    } catch (error) {
      if (/** @type {any} */ (error).code !== DUPLICATE_KEY) throw error
    }
    return (await this.#collection.findOne({ _id: STORE }))?.gateway ?? ''
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
