import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { COMMITS_TABLE, quote } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/** @typedef {import('../check/check.js').Store} Store */

/** The gateway locks the file now and then: when it makes it, and when it recovers it. */
const BUSY_TIMEOUT_MS = 10_000

/** @implements {Store} */
export class SqliteStore {
  #file
  /** @type {DatabaseSync|null} */
  #database = null

  /** @param {string} file */
  constructor (file) {
    this.#file = file
  }

  async tables () {
    return this.#tables.filter(name => name !== COMMITS_TABLE)
  }

  /** @param {string} table */
  async count (table) {
    return Number(this.#all(`SELECT count(*) AS rows FROM ${quote(table)}`)[0].rows)
  }

  /** @param {string} table */
  async * read (table) {
    const statement = this.#open().prepare(`SELECT * FROM ${quote(table)}`)
    statement.setReadBigInts(true)
    const columns = statement.columns().map(({ name }) => name)
    const names = columns.filter(name => name !== 'time')
    const keyOf = keyWriter(names)
    for (const row of statement.iterate()) yield keyOf(/** @type {bigint} */ (row.time), column => row[names[column]])
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    const sql = `SELECT 1 FROM ${quote(COMMITS_TABLE)} WHERE source = ? AND epoch = ? AND ? BETWEEN seq AND last`
    return this.#tables.includes(COMMITS_TABLE) && this.#all(sql, source, epoch, seq).length > 0
  }

  async close () {
    this.#database?.close()
  }

  /** None before a sink has made the file. */
  get #tables () {
    return existsSync(this.#file) ? this.#all('SELECT name FROM sqlite_schema WHERE type = \'table\'').map(({ name }) => String(name)) : []
  }

  /** @param {string} sql @param {import('node:sqlite').SQLInputValue[]} values */
  #all (sql, ...values) {
    return this.#open().prepare(sql).all(...values)
  }

  #open () {
    this.#database ??= new DatabaseSync(this.#file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    return this.#database
  }
}
