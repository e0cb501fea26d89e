import cassandra from 'cassandra-driver'
import { isMissing } from '../../../gateway/databases/cassandra/connection.js'
import { tableName } from '../../../gateway/databases/cassandra/dialect.js'
import { COMMITS_TABLE, nameOfAscii, quote } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/** Those of the sink: what a row is found under says nothing about what is in it, and two with the same in it are one too many. */
const OWN = ['bucket', 'sluice_id', 'time', 'time_ns']

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class CassandraStore {
  #client
  #database

  /** @param {cassandra.Client} client @param {string} database */
  constructor (client, database) {
    this.#client = client
    this.#database = database
  }

  /** @param {{port: number, database: string}} server */
  static async open ({ port, database }) {
    const client = new cassandra.Client({
      contactPoints: ['127.0.0.1'], localDataCenter: 'datacenter1', protocolOptions: { port }, encoding: { useBigIntAsLong: true }
    })
    await client.connect()
    return new CassandraStore(client, database)
  }

  async tables () {
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE).map(nameOfAscii)
  }

  /** @param {string} table */
  async count (table) {
    try {
      const { rows: [{ rows }] } = await this.#client.execute(`SELECT count(*) AS rows FROM ${this.#nameOf(tableName(table))}`)
      return Number(rows)
    } catch (error) {
      if (isMissing(error)) return 0 // it is listed while it is being created
      throw error
    }
  }

  /** @param {string} table */
  async * read (table) {
    const found = await this.#client.execute(`SELECT * FROM ${this.#nameOf(tableName(table))}`)
    const names = found.columns.map(({ name }) => name).filter(name => !OWN.includes(name))
    const keyOf = keyWriter(names)
    for await (const row of found) yield keyOf(row.time_ns, column => row[names[column]])
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    for await (const row of await this.#client.execute(`SELECT * FROM ${this.#nameOf(COMMITS_TABLE)}`)) {
      if (row.source === source && row.epoch === epoch && row.seq <= seq && row.last >= seq) return true
    }
    return false
  }

  async close () {
    await this.#client.shutdown()
  }

  /** @returns {Promise<string[]>} */
  async #tables () {
    const { rows } = await this.#client.execute('SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?', [this.#database])
    return rows.map(({ table_name: name }) => name)
  }

  /** @param {string} table */
  #nameOf (table) {
    return `${quote(this.#database)}.${quote(table)}`
  }
}
