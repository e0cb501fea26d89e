import { COMMITS_TABLE, nameOfAscii } from '../../../gateway/databases/names.js'
import { connect } from '../../../gateway/databases/questdb/connection.js'
import { nameIn } from '../../../gateway/databases/questdb/dialect.js'
import { readColumns } from '../../../gateway/databases/questdb/tables.js'
import { keyWriter } from '../check/row-key.js'

/** Those of the sink: what a row is found under says nothing about what is in it, and two with the same in it are one too many. */
const OWN = ['timestamp', 'sluice_batch', 'sluice_row']

const PAGE_ROWS = 50_000

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class QuestdbStore {
  #server

  /** @param {number} port */
  constructor (port) {
    this.#server = connect({ port })
  }

  async tables () {
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE).map(nameOfAscii)
  }

  /** @param {string} source */
  async count (source) {
    const table = nameIn(source)
    if (!(await this.#tables()).includes(table)) return 0
    await this.#server.settled(table)
    return Number((await this.#server.query(`SELECT count() FROM "${table}"`))[0][0])
  }

  /** @param {string} source */
  async * read (source) {
    const table = nameIn(source)
    await this.#server.settled(table)
    const columns = (await readColumns(this.#server, table)).filter(({ name }) => !OWN.includes(name))
    const keyOf = keyWriter(columns.map(({ name }) => nameOfAscii(name)))
    const selected = ['timestamp::long', ...columns.map(({ name }) => `"${name}"`)].join(', ')
    for (let at = 0; ; at += PAGE_ROWS) {
      const rows = await this.#server.query(`SELECT ${selected} FROM "${table}" LIMIT ${at}, ${at + PAGE_ROWS}`)
      for (const [time, ...cells] of rows) {
        const cellOf = (/** @type {number} */ i) => columns[i].kind === 'FLOAT' && cells[i] !== null ? Math.fround(cells[i]) : cells[i]
        yield keyOf(BigInt(time), cellOf)
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    await this.#server.settled(COMMITS_TABLE)
    const records = (await this.#server.query(`SELECT record FROM ${COMMITS_TABLE}`)).map(([record]) => JSON.parse(record))
    return records.some(record => record.source === source && record.epoch === epoch && record.seq <= seq && record.last >= seq)
  }

  async close () {
    await this.#server.close()
  }

  /** @returns {Promise<string[]>} */
  async #tables () {
    return (await this.#server.query('SHOW TABLES')).map(([name]) => name)
  }
}
