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
  /** @type {Map<string, {series: Series, tags: Record<string, string>[], names: Set<string>}>} */
  #bySource = new Map()
  #budget = new CellBudget()
  /** Of tags that the rows name themselves: each may bring others. */
  #tagBudget = new CellBudget()
  #names

  /** @param {string[]} names  of tags that all batches have */
  constructor (names) {
    this.#names = new Set(names)
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
    for (const [name, value] of texts) {
      const fault = nameFault(name) ?? tagFault(value)
      if (fault) return `its tag ${quoted(name)} ${fault}`
    }
    const one = this.#bySource.get(source) ?? { series: new Series(source, {}, this.#budget, true), tags: [], names: new Set() }
    const own = texts.map(([name]) => name).filter(name => !this.#names.has(name))
    const names = own.every(name => one.names.has(name)) ? one.names : new Set([...one.names, ...own])
    const reason = this.#whyNot(own.length, names.size, one) ?? one.series.add(ns, cells)
    if (reason) return reason
    one.names = names
    one.tags.push(Object.fromEntries(texts.map(([name, value]) => [name, String(value)])))
    this.#bySource.set(source, one)
    return null
  }

  batches () {
    return Array.from(this.#bySource.values(), ({ series, tags, names }) => {
      const all = new Set([...this.#names, ...names])
      return new Batch({ ...series.toBatch(), tags: Object.fromEntries(Array.from(all, name => [name, columnOf(tags, name)])) })
    })
  }

  /**
   * Why there is no room for a row; null where there is.
   * @param {number} values  of tags of its own @param {number} names  of all of these, with this row
   * @param {{tags: unknown[], names: Set<string>}} one  the source as it is
   */
  #whyNot (values, names, { tags, names: before }) {
    if (tags.length === 0 && this.#bySource.size === MAX_SERIES) return `the message has more than ${MAX_SERIES} sources`
    if (this.#names.size + names > MAX_TAGS) return `there are more than ${MAX_TAGS} tags`
    return this.#tagBudget.take(values, (tags.length + 1) * names - tags.length * before.size)
  }
}

/** @param {Record<string, string>[]} tags  of the rows @param {string} name @returns {TagColumn} */
function columnOf (tags, name) {
  const has = tags.map(each => Object.hasOwn(each, name))
  return { values: tags.map((each, row) => has[row] ? each[name] : ''), valid: has.every(Boolean) ? null : Uint8Array.from(has, Number) }
}
