import { COMMITS_TABLE, quote } from '../../../gateway/databases/names.js'
import { keyWriter } from '../check/row-key.js'

/**
 * Of the sink: what it tells points apart by says nothing about what was measured, and two with the same fields at the same time are one
 * too many.
 */
const OWN = ['time', 'gateway', 'row']

/**
 * @typedef {import('../check/check.js').Store} Store
 * @typedef {{name: string, columns: string[], values: any[][]}} Series
 * @typedef {(statement: string) => Promise<{series?: Series[]}>} Query  gives exact numbers, and times in nanoseconds
 */

/** @implements {Store} */
export class InfluxdbStore {
  #query

  /** @param {Query} query */
  constructor (query) {
    this.#query = query
  }

  async tables () {
    return (await this.#measurements()).filter(name => name !== COMMITS_TABLE)
  }

  /** All points are fetched: the server only counts the values of a field, which not all points have. @param {string} table */
  async count (table) {
    const [series] = await this.#series(`SELECT * FROM ${quote(table)}`)
    return series.values.length
  }

  /** @param {string} table */
  async * read (table) {
    const [{ columns, values }] = await this.#series(`SELECT * FROM ${quote(table)}`)
    const time = columns.indexOf('time')
    const places = columns.flatMap((name, place) => OWN.includes(name) ? [] : [place])
    const keyOf = keyWriter(places.map(place => columns[place]))
    for (const row of values) yield keyOf(BigInt(row[time]), column => row[places[column]])
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    const [records] = await this.#series(`SELECT "last", "source", "epoch" FROM ${COMMITS_TABLE}`)
    return records.values.some(([first, last, ...of]) => of[0] === source && of[1] === epoch && first <= seq && seq <= last)
  }

  async close () {}

  async #measurements () {
    const [{ values }] = await this.#series('SHOW MEASUREMENTS')
    return values.map(([name]) => String(name))
  }

  /** @param {string} statement @returns {Promise<Series[]>} at least one */
  async #series (statement) {
    const { series = [] } = await this.#query(statement)
    return series.length > 0 ? series : [{ name: '', columns: [], values: [] }]
  }
}
