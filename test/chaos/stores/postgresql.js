import pg from 'pg'
import { COMMITS_TABLE, quote } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

const FETCH_ROWS = 10_000
const TIMES = ['time', 'time_ns']

/** By the object id of the type. @type {Record<number, (text: string) => unknown>} */
const PARSERS = {
  16: text => text === 't',
  20: BigInt,
  21: BigInt,
  23: BigInt,
  700: text => Math.fround(Number(text)),
  701: Number
}

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class PostgresqlStore {
  #client

  /** @param {pg.Client} client */
  constructor (client) {
    this.#client = client
  }

  /** @param {{port: number, user: string, password: string, database: string}} server */
  static async open ({ port, user, password, database }) {
    const types = { getTypeParser: (/** @type {number} */ oid) => PARSERS[oid] ?? String }
    const client = new pg.Client({ host: '127.0.0.1', port, user, password, database, types: /** @type {any} */ (types) })
    await client.connect()
    return new PostgresqlStore(client)
  }

  async tables () {
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE)
  }

  /** @param {string} table */
  async count (table) {
    const { rows } = await this.#client.query(`SELECT count(*) AS rows FROM ${quote(table)}`)
    return Number(rows[0].rows)
  }

  /** @param {string} table */
  async * read (table) {
    const client = this.#client
    await client.query(`BEGIN; DECLARE all_rows CURSOR FOR SELECT * FROM ${quote(table)}`)
    for (let isEnd = false; !isEnd;) {
      const { rows, fields } = await client.query(`FETCH ${FETCH_ROWS} FROM all_rows`)
      const names = fields.map(({ name }) => name).filter(name => !TIMES.includes(name))
      const keyOf = keyWriter(names)
      for (const row of rows) yield keyOf(row.time_ns, column => row[names[column]])
      isEnd = rows.length < FETCH_ROWS
    }
    await client.query('COMMIT')
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    const { rows } = await this.#client.query(
      `SELECT 1 FROM ${quote(COMMITS_TABLE)} WHERE source = $1 AND epoch = $2 AND $3 BETWEEN seq AND last`,
      [source, epoch, seq]
    )
    return rows.length > 0
  }

  async close () {
    await this.#client.end()
  }

  async #tables () {
    const { rows } = await this.#client.query('SELECT tablename FROM pg_tables WHERE schemaname = \'public\'')
    return rows.map(({ tablename }) => String(tablename))
  }
}
