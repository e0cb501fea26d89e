import mysql from 'mysql2'
import { COMMITS_TABLE } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

const TIMES = ['time', 'time_ns']

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class MysqlStore {
  #connection

  /** @param {mysql.Connection} connection */
  constructor (connection) {
    this.#connection = connection
  }

  /** @param {{port: number, user: string, password: string, database: string}} server */
  static async open ({ port, user, password, database }) {
    const connection = mysql.createConnection({
      host: '127.0.0.1',
      port,
      user,
      password,
      database,
      charset: 'utf8mb4',
      supportBigNumbers: true,
      bigNumberStrings: true
    })
    await connection.promise().connect()
    return new MysqlStore(connection)
  }

  async tables () {
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE)
  }

  /** @param {string} table */
  async count (table) {
    const [{ rows }] = await this.#all(`SELECT count(*) AS \`rows\` FROM ${mysql.escapeId(table, true)}`)
    return Number(rows)
  }

  /** @param {string} table */
  async * read (table) {
    // The binary protocol, which executing speaks, gives floats exactly.
    const rows = this.#connection.execute(`SELECT * FROM ${mysql.escapeId(table, true)}`).stream()
    /** @type {(row: any) => string} */
    let keyOf = () => ''
    rows.once('fields', fields => { keyOf = keysOf(fields) })
    for await (const row of rows) yield keyOf(row)
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    const rows = await this.#all(`SELECT 1 FROM ${COMMITS_TABLE} WHERE source = ? AND epoch = ? AND ? BETWEEN seq AND last`, [
      source,
      epoch,
      seq
    ])
    return rows.length > 0
  }

  async close () {
    await this.#connection.promise().end()
  }

  /** @returns {Promise<string[]>} */
  async #tables () {
    const rows = await this.#all('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database()')
    return rows.map(({ name }) => String(name))
  }

  /** @param {string} sql @param {unknown[]} [values] @returns {Promise<Record<string, unknown>[]>} */
  async #all (sql, values = []) {
    const [rows] = await this.#connection.promise().query(sql, values)
    return /** @type {any} */ (rows)
  }
}

/** What makes the key of a row of these columns. @param {mysql.FieldPacket[]} fields @returns {(row: any) => string} */
function keysOf (fields) {
  const names = fields.map(({ name }) => name).filter(name => !TIMES.includes(name))
  const wholeNumbers = new Set(fields.filter(({ columnType }) => columnType === mysql.Types.LONGLONG).map(({ name }) => name))
  const keyOf = keyWriter(names)
  return row => keyOf(BigInt(row.time_ns), column => {
    const value = row[names[column]]
    return value !== null && wholeNumbers.has(names[column]) ? BigInt(value) : value
  })
}
