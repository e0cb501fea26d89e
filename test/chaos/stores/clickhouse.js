import { createClient } from '@clickhouse/client'
import { COMMITS_TABLE } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/** Of the sink: `time_ns` is what old servers hold beside a time of whole seconds. */
const OWN = ['time', 'time_ns', 'sluice_epoch', 'sluice_seq', 'sluice_batch']

/**
 * @typedef {import('../check/check.js').Store} Store
 * @typedef {{meta: {name: string, type: string}[], data: any[][]}} Answer
 */

/** @implements {Store} */
export class ClickhouseStore {
  #client

  /** @param {{port: number, user: string, password: string, database: string}} server */
  constructor ({ port, user, password, database }) {
    this.#client = createClient({ url: `http://127.0.0.1:${port}`, username: user, password, database, keep_alive: { enabled: false } })
  }

  async tables () {
    return (await this.#tables()).filter(name => name !== COMMITS_TABLE)
  }

  /** @param {string} table */
  async count (table) {
    const { data: [[rows]] } = await this.#query(`SELECT count() FROM ${quoted(table)}`)
    return Number(rows)
  }

  /** @param {string} table */
  async * read (table) {
    const { data: columns } = await this.#query(
      `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = ${literal(table)}`
    )
    const time = columns.some(([name]) => name === 'time_ns') ? 'time_ns' : 'toUnixTimestamp64Nano(time)'
    const { meta, data } = await this.#query(`SELECT ${time} AS ns, * FROM ${quoted(table)}`)
    const places = meta.flatMap(({ name }, place) => place === 0 || OWN.includes(name) ? [] : [place])
    const readers = places.map(place => readerOf(meta[place].type))
    const keyOf = keyWriter(places.map(place => meta[place].name))
    for (const row of data) yield keyOf(BigInt(row[0]), column => readers[column](row[places[column]]))
  }

  /**
   * The rows themselves tell of most batches; records only of those that have none, and of what was compacted.
   * @param {string} source
   * @param {{epoch: string, seq: number}} place
   */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#tables()).includes(COMMITS_TABLE)) return false
    const { data } = await this.#query(
      `SELECT number, seq, last FROM ${COMMITS_TABLE} WHERE source = ${literal(source)} AND epoch = ${literal(epoch)}`
    )
    if (data.some(([, first, last]) => Number(first) <= seq && seq <= Number(last))) return true
    if (data.length === 0 || !(await this.tables()).includes(source)) return false
    const {
      data: [[rows]]
    } = await this.#query(`SELECT count() FROM ${quoted(source)} WHERE sluice_epoch = ${data[0][0]} AND sluice_seq = ${seq}`)
    return Number(rows) > 0
  }

  async close () {
    await this.#client.close()
  }

  async #tables () {
    const { data } = await this.#query('SELECT name FROM system.tables WHERE database = currentDatabase()')
    return data.map(([name]) => String(name))
  }

  /** @param {string} query @returns {Promise<Answer>} */
  async #query (query) {
    const result = await this.#client.query({
      query,
      format: 'JSONCompact',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 1 }
    })
    return /** @type {any} */ (result.json())
  }
}

/** What makes of a value as it comes the value that it is. @param {string} type @returns {(value: any) => unknown} */
function readerOf (type) {
  if (/Int64/.test(type)) return value => value === null ? null : BigInt(value)
  if (/Float32/.test(type)) return value => value === null ? null : Math.fround(value)
  return value => value
}

/** @param {string} name */
function quoted (name) {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}

/** @param {string} text */
function literal (text) {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
