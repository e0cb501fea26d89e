import { COMMITS_TABLE } from '../../../gateway/databases/names.js'
import { readCommits } from '../../../gateway/databases/warp10/commit-records.js'
import { connect } from '../../../gateway/databases/warp10/connection.js'
import { seriesOf } from '../../../gateway/databases/warp10/points.js'
import { all } from '../../../gateway/databases/warp10/selector.js'
import { keyWriter } from '../check/row-key.js'

/** Labels of the sink: what it tells points apart by says nothing about what was measured. */
const OWN = ['id', 'gateway', 'row', 'ns']

/** @typedef {import('../check/check.js').Store} Store */

/** @implements {Store} */
export class Warp10Store {
  #server

  /** @param {Record<string, unknown>} options  of the server */
  constructor (options) {
    this.#server = connect(options)
  }

  async tables () {
    const series = (await this.#server.heads(all({}))).map(seriesOf)
    return [...new Set(series.filter(({ name }) => name !== COMMITS_TABLE).map(({ labels }) => labels.id))]
  }

  /** @param {string} source */
  async count (source) {
    return (await this.#rows(source)).length
  }

  /** @param {string} source */
  async * read (source) {
    for (const { ns, cells } of await this.#rows(source)) {
      const names = [...cells.keys()]
      yield keyWriter(names)(ns, column => cells.get(names[column]))
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    return (await readCommits(this.#server)).some(row => row.source === source && row.epoch === epoch && row.seq <= seq && seq <= row.last)
  }

  async close () {
    await this.#server.close()
  }

  /** Points of one time and the same labels. @param {string} source */
  async #rows (source) {
    /** @type {Map<string, {ns: bigint, cells: Map<string, unknown>}>} */
    const rows = new Map()
    for await (const { ns, series: { name, labels }, value } of this.#server.points({ selector: all({ id: source }) })) {
      const key = `${ns} ${JSON.stringify(Object.entries(labels).sort())}`
      const row = rows.get(key) ?? { ns, cells: new Map(Object.entries(labels).filter(([label]) => !OWN.includes(label))) }
      rows.set(key, row)
      row.cells.set(name, value.value)
    }
    return [...rows.values()].sort((a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0)
  }
}
