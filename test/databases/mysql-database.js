import mysql from 'mysql2/promise'
import { quote } from '../../gateway/databases/mysql/dialect.js'
import { open } from '../../gateway/databases/mysql/sink.js'
import { connect } from '../../gateway/databases/mysql/connection.js'
import { missingMariadb, startMariadb } from '../servers/mariadb.js'
import { requireServer } from '../servers/programs.js'
import { TestDatabase } from './test-database.js'

/**
 * A server for the tests of a suite, and an empty database for each of them.
 * @extends {TestDatabase<import('../../gateway/databases/mysql/connection.js').MysqlServer>}
 */
export class MysqlDatabase extends TestDatabase {
  /** @type {import('../servers/mariadb.js').MariadbServer} */
  server = /** @type {any} */ (null)
  /** @type {mysql.Connection} */
  client = /** @type {any} */ (null)

  /** Has mocha start and empty it. @param {Parameters<typeof startMariadb>[0]} [options] */
  static inSuite (options) {
    const database = new MysqlDatabase({ connect, open })
    before(async function () {
      requireServer(this, 'mariadb', missingMariadb())
      database.server = await startMariadb(options)
    })
    beforeEach(() => database.#empty())
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
    this.client = await mysql.createConnection({
      ...this.login,
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
      jsonStrings: true
    })
    this.client.on('error', () => {})
  }

  /** @param {string} sql @param {any[]} [values] @returns {Promise<any[]>} */
  query = async (sql, values) => /** @type {any} */ ((await this.client.execute(sql, values))[0])

  /** As the contract expects them. @param {string} table @returns {Promise<any[]>} */
  rows = async table => {
    const order = table === 'sluice_commits' ? 'seq' : 'time_ns'
    const [found, fields] = /** @type {[any[], any[]]} */ (await this.client.execute(`SELECT * FROM ${quote(table)} ORDER BY ${order}`))
    const wholeNumbers = new Set(fields.filter(({ columnType }) => WHOLE_NUMBERS.includes(columnType)).map(({ name }) => name))
    return found.map(({ time: _time, time_ns: time, ...row }) => ({
      ...time !== undefined && { time: BigInt(time) },
      ...plain(row, wholeNumbers)
    }))
  }

  async #empty () {
    const { database } = this.server
    await this.reconnect()
    for (const statement of [`DROP DATABASE IF EXISTS ${database}`, `CREATE DATABASE ${database}`, `USE ${database}`]) {
      await this.client.query(statement)
    }
  }

  async #close () {
    await this.closeOpened()
    await this.client?.end()
  }
}

const { TINY, SHORT, LONG, LONGLONG } = mysql.Types
const WHOLE_NUMBERS = [TINY, SHORT, LONG, LONGLONG]

/** @param {Record<string, unknown>} row @param {Set<string>} wholeNumbers  columns */
function plain (row, wholeNumbers) {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => {
    if (value instanceof Uint8Array) return [column, `0x${Buffer.from(value).toString('hex')}`]
    if (value === null || !wholeNumbers.has(column)) return [column, value]
    const whole = BigInt(/** @type {string} */ (value))
    return [column, BigInt.asIntN(53, whole) === whole ? Number(whole) : whole]
  }))
}
