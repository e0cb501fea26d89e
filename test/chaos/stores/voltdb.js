import { connect } from '../../../gateway/databases/voltdb/connection.js'
import { nameIn, nameOf } from '../../../gateway/databases/voltdb/dialect.js'
import { readColumns } from '../../../gateway/databases/voltdb/tables.js'
import { COMMITS_TABLE } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/** Those of the sink: what a row is found under says nothing about what is in it, and two with the same in it are one too many. */
const OWN = ['time_ns', 'sluice_batch', 'sluice_row']

const PAGE_ROWS = 20_000

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class VoltdbStore {
  #server

  /** @param {number} port */
  constructor (port) {
    this.#server = connect({ port })
  }

  async tables () {
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE).map(nameOf)
  }

  /** @param {string} source */
  async count (source) {
    const table = nameIn(source)
    if (!(await this.#tables()).includes(table)) return 0
    return Number((await this.#server.query(`SELECT COUNT(*) FROM ${table}`))[0][0])
  }

  /** @param {string} source */
  async * read (source) {
    const table = nameIn(source)
    const columns = (await readColumns(await this.#server.session(), table)).filter(({ name }) => !OWN.includes(name))
    const keyOf = keyWriter(columns.map(({ name }) => name))
    const selected = [...OWN, ...columns.map(({ name }) => nameIn(name))].join(', ')
    for (let [time, passed] = [1n - 2n ** 63n, 0]; ;) {
      const rows = await this.#server.query(`SELECT ${selected} FROM ${table} WHERE time_ns >= ? ` +
        `ORDER BY time_ns, sluice_batch, sluice_row LIMIT ${PAGE_ROWS} OFFSET ${passed}`, [time])
      for (const row of rows) {
        passed = row[0] === time ? passed + 1 : 1
        time = row[0]
        yield keyOf(time, (/** @type {number} */ i) => row[OWN.length + i])
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    const rows = await this.#server.query(`SELECT seq FROM ${COMMITS_TABLE} WHERE source = ? AND epoch = ? AND seq <= ? AND last >= ?`,
      [source, epoch, BigInt(seq), BigInt(seq)])
    return rows.length > 0
  }

  async close () {
    await this.#server.close()
  }

  /** @returns {Promise<string[]>} */
  async #tables () {
    const [{ rows }] = await (await this.#server.session()).call('@SystemCatalog', ['TABLES'])
    return rows.map(row => row[2].toLowerCase())
  }
}
