import { Batch } from '../../batch/batch.js'
import { CellBudget, MAX_NAME, MAX_SERIES, MAX_TAGS } from '../bounds.js'
import { nameFault, quoted, tagFault } from '../gatherer.js'
import { Series } from '../series.js'

/**
 * @typedef {import('../series.js').Cell} Cell
 * @typedef {import('../../batch/tags.js').TagColumn} TagColumn
 */

/** Gathers rows into a batch for each source: whatever tags they have, those are columns. */
export class TaggedSeries {
  /** @type {Map<string, {series: Series, tags: Record<string, string>[]}>} */
  #bySource = new Map()
  #budget = new CellBudget()
  #names

  /** @param {string[]} names  of tags that all batches have */
  constructor (names) {
    this.#names = names
  }

  /**
   * @param {unknown} source @param {Record<string, unknown>} tags  those without a value are missing
   * @param {bigint} ns @param {Cell[]} cells  whose names and values have been checked
   * @returns {string|null} why the row was refused
   */
  take (source, tags, ns, cells) {
    if (typeof source !== 'string' || source === '') return 'its source or measurement is not text'
    if (source.length > MAX_NAME) return `its source ${quoted(source)} is over ${MAX_NAME} characters`
    const texts = Object.entries(tags).filter(([, value]) => value != null)
    if (texts.length > MAX_TAGS) return `it has more than ${MAX_TAGS} tags`
    for (const [name, value] of texts) {
      const fault = nameFault(name) ?? tagFault(value)
      if (fault) return `its tag ${quoted(name)} ${fault}`
    }
    const one = this.#bySource.get(source) ?? { series: new Series(source, {}, this.#budget, true), tags: [] }
    const reason = this.#bySource.size === MAX_SERIES ? `the message has more than ${MAX_SERIES} sources` : one.series.add(ns, cells)
    if (reason) return reason
    one.tags.push(Object.fromEntries(texts.map(([name, value]) => [name, String(value)])))
    this.#bySource.set(source, one)
    return null
  }

  batches () {
    return Array.from(this.#bySource.values(), ({ series, tags }) => {
      const names = new Set([...this.#names, ...tags.flatMap(Object.keys)])
      return new Batch({ ...series.toBatch(), tags: Object.fromEntries(Array.from(names, name => [name, columnOf(tags, name)])) })
    })
  }
}

/** @param {Record<string, string>[]} tags  of the rows @param {string} name @returns {TagColumn} */
function columnOf (tags, name) {
  const has = tags.map(each => Object.hasOwn(each, name))
  return { values: tags.map((each, row) => has[row] ? each[name] : ''), valid: has.every(Boolean) ? null : Uint8Array.from(has, Number) }
}
