import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSession } from '../../../gateway/databases/duckdb/instance.js'
import { COMMITS_TABLE, quote } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/** @typedef {import('../check/check.js').Store} Store */

/** How often a copy is made anew that a checkpoint has come between. */
const ATTEMPTS = 50

/**
 * Reads copies of the file, since the gateway lets no other process open it: each call of `tables` makes one.
 * @implements {Store}
 */
export class DuckdbStore {
  #file
  /** @type {{folder: string, session: import('../../../gateway/databases/duckdb/instance.js').Session}|null} */
  #copy = null

  /** @param {string} file */
  constructor (file) {
    this.#file = file
  }

  async tables () {
    await this.#renew()
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE)
  }

  /** @param {string} table */
  async count (table) {
    const [{ rows }] = await this.#run(`SELECT count(*) AS rows FROM ${quote(table)}`)
    return Number(rows)
  }

  /** @param {string} table */
  async * read (table) {
    const rows = await this.#run(`SELECT epoch_ns(time) AS time, * EXCLUDE (time) FROM ${quote(table)}`)
    const names = Object.keys(rows[0] ?? {}).filter(name => name !== 'time')
    const keyOf = keyWriter(names)
    for (const row of rows) yield keyOf(row.time, column => row[names[column]])
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    const sql = `SELECT 1 FROM ${quote(COMMITS_TABLE)} WHERE source = $source AND epoch = $epoch AND $seq BETWEEN seq AND last`
    return (await this.#run(sql, { source, epoch, seq })).length > 0
  }

  async close () {
    if (!this.#copy) return
    this.#copy.session.close()
    await rm(this.#copy.folder, { recursive: true })
    this.#copy = null
  }

  /** None before a sink has made the file. */
  async #tables () {
    return this.#copy ? (await this.#run('SELECT table_name AS name FROM information_schema.tables')).map(({ name }) => String(name)) : []
  }

  /** @param {string} sql @param {Record<string, any>} [values] */
  async #run (sql, values) {
    return this.#copy?.session.run(sql, values) ?? []
  }

  async #renew () {
    await this.close()
    for (let attempt = 1; existsSync(this.#file); attempt++) {
      const folder = await mkdtemp(join(dirname(this.#file), 'copy-'))
      try {
        const copy = join(folder, basename(this.#file))
        for (const suffix of ['', '.wal']) {
          if (existsSync(this.#file + suffix)) await copyFile(this.#file + suffix, copy + suffix)
        }
        this.#copy = { folder, session: await openSession(copy) }
        return
      } catch (error) {
        await rm(folder, { recursive: true })
        if (attempt === ATTEMPTS) throw error
        await sleep(100)
      }
    }
  }
}
