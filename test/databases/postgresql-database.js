import pg from 'pg'
import { open } from '../../gateway/databases/postgresql/sink.js'
import { connect } from '../../gateway/databases/postgresql/connection.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { TestDatabase } from './test-database.js'

/**
 * A server for the tests of a suite, and an empty schema for each of them.
 * @extends {TestDatabase<import('../../gateway/databases/postgresql/connection.js').PostgresqlServer>}
 */
export class PostgresqlDatabase extends TestDatabase {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  server = /** @type {any} */ (null)
  /** @type {pg.Client} */
  client = /** @type {any} */ (null)

  /** Has mocha start and empty it. */
  static inSuite () {
    const database = new PostgresqlDatabase({ connect, open })
    before(async function () {
      requirePostgresql(this)
      database.server = await startPostgresql()
    })
    beforeEach(async () => {
      await database.reconnect()
      await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    })
    afterEach(() => database.#close())
    after(() => database.server?.remove())
    return database
  }

  /** @override */
  get options () { return this.login }

  get login () {
    const { port, user, password, database } = this.server
    return { host: '127.0.0.1', port, user, password, database }
  }

  async reconnect () {
    this.client = new pg.Client({ ...this.login, types: { getTypeParser: parserOf } })
    this.client.on('error', () => {})
    await this.client.connect()
  }

  /** @param {string} sql @param {any[]} [values] */
  query = (sql, values) => this.client.query(sql, values)

  /** As the contract expects them. @param {string} table */
  rows = async (table, schema = 'public') => {
    const order = table === 'sluice_commits' ? 'seq' : 'time_ns'
    const result = await this.query(`SELECT * FROM "${schema}".${pg.escapeIdentifier(table)} ORDER BY ${order}`)
    return result.rows.map(({ time: _time, time_ns: time, ...row }) => ({ ...time !== undefined && { time }, ...plain(row) }))
  }

  async #close () {
    await this.closeOpened()
    await this.client?.end()
  }
}

/** @param {number} type  OID */
function parserOf (type) {
  if (type === 20) return BigInt
  if (type === 700) return (/** @type {string} */ value) => Math.fround(Number(value))
  if (type === 17) return (/** @type {string} */ value) => `0x${value.slice(2)}`
  return pg.types.getTypeParser(type)
}

/** @param {Record<string, unknown>} row */
export function plain (row) {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => {
    if (typeof value === 'boolean') return [column, Number(value)]
    return [column, typeof value === 'bigint' && BigInt.asIntN(53, value) === value ? Number(value) : value]
  }))
}
