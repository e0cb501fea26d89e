import { COMMITS_TABLE, nameOfAscii } from '../../../gateway/databases/names.js'
import { readCommits } from '../../../gateway/databases/hbase/commit-records.js'
import { connect } from '../../../gateway/databases/hbase/connection.js'
import { rowOf, tableFacts } from '../../../gateway/databases/hbase/tables.js'
import { keyWriter } from '../check/row-key.js'

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class HbaseStore {
  #server

  /** @param {{port: number, database: string}} options */
  constructor (options) {
    this.#server = connect(options)
  }

  async tables () {
    const found = await this.#server.tables()
    return found.filter(name => name !== COMMITS_TABLE).map(nameOfAscii)
  }

  /** @param {string} source */
  async count (source) {
    if (!await this.#known()) return 0
    const facts = await tableFacts(this.#server, source)
    let count = 0
    if (facts) for await (const page of this.#server.scan(facts.table, {})) count += page.length
    return count
  }

  /** @param {string} source */
  async * read (source) {
    const facts = await this.#known() ? await tableFacts(this.#server, source) : null
    if (!facts) return
    const columns = facts.columns.map(({ name }) => name).filter(name => name !== 'time_ns')
    const keyOf = keyWriter(columns)
    for await (const page of this.#server.scan(facts.table, {})) {
      for (const each of page) {
        const row = rowOf(facts, each)
        yield keyOf(row.time_ns, i => row[columns[i]])
      }
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!await this.#known()) return false
    const records = await readCommits(this.#server)
    return records.some(record => record.source === source && record.epoch === epoch && record.seq <= seq && record.last >= seq)
  }

  async close () {
    await this.#server.close()
  }

  async #known () {
    return (await this.#server.tables()).includes(COMMITS_TABLE)
  }
}
