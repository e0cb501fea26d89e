import { MongoClient } from 'mongodb'
import { COMMITS_TABLE } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/** Those of the sink: what a document is found under says nothing about what is in it, and two with the same in it are one too many. */
const OWN = ['_id', 'time', 'time_ns']

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class MongodbStore {
  #client
  #database

  /** @param {MongoClient} client @param {string} database */
  constructor (client, database) {
    this.#client = client
    this.#database = client.db(database)
  }

  /** @param {{url: string, database: string}} server */
  static async open ({ url, database }) {
    const client = new MongoClient(url, { useBigInt64: true, retryReads: false })
    await client.connect()
    return new MongodbStore(client, database)
  }

  async tables () {
    return (await this.#collections()).filter(name => name !== COMMITS_TABLE)
  }

  /** @param {string} table */
  async count (table) {
    return this.#database.collection(table).countDocuments()
  }

  /** @param {string} table */
  async * read (table) {
    for await (const document of this.#database.collection(table).find()) {
      const names = Object.keys(document).filter(name => !OWN.includes(name))
      yield keyWriter(names)(BigInt(document.time_ns), column => document[names[column]])
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    const record = await this.#database.collection(COMMITS_TABLE).findOne({ source, epoch, seq: { $lte: seq }, last: { $gte: seq } })
    return record !== null
  }

  async close () {
    await this.#client.close()
  }

  /** @returns {Promise<string[]>} */
  async #collections () {
    const collections = await this.#database.listCollections({}, { nameOnly: true }).toArray()
    return collections.map(({ name }) => name)
  }
}
