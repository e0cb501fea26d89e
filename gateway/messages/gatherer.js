import { nameFault } from '../../resources/names.js'
import { CellBudget, MAX_NAME, MAX_SERIES, MAX_TAG, MAX_TAGS } from './bounds.js'
import { Series } from './series.js'

export { nameFault }

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('./series.js').Cell} Cell
 */

/** Sorts rows into batches: one for each source and set of tags. */
export class Gatherer {
  /** @type {Map<string, Series>} */
  #series = new Map()
  #budget = new CellBudget()
  #hasOneNumber
  #sourceFix

  /** @param {{hasOneNumber?: boolean, sourceFix?: string}} [options]  see `Series` and `toBatches` */
  constructor ({ hasOneNumber = false, sourceFix = 'set one, or msg.topic' } = {}) {
    this.#hasOneNumber = hasOneNumber
    this.#sourceFix = sourceFix
  }

  /**
   * @param {unknown} source @param {Record<string, unknown>|undefined} tags  those without a value are left out
   * @param {bigint} ns @param {Cell[]} cells  whose names and values have been checked
   * @returns {string|null} why the row was refused
   */
  take (source, tags, ns, cells) {
    const series = this.#seriesOf(source, tags)
    return typeof series === 'string' ? series : series.add(ns, cells)
  }

  /** @returns {Batch[]} */
  batches () {
    return Array.from(this.#series.values()).filter(({ times }) => times.length > 0).map(series => series.toBatch())
  }

  /** @param {unknown} source @param {Record<string, unknown>} [tags] @returns {Series|string} or why not */
  #seriesOf (source, tags) {
    if (source == null || source === '') return `it has no source: ${this.#sourceFix}`
    if (typeof source !== 'string') return 'its source or measurement is not text'
    if (source.length > MAX_NAME) return `its source ${quoted(source)} is over ${MAX_NAME} characters`
    const texts = tags ? Object.keys(tags).sort().filter(name => tags[name] != null).map(name => [name, tags[name]]) : []
    if (texts.length > MAX_TAGS) return `it has more than ${MAX_TAGS} tags`
    for (const [name, value] of texts) {
      const fault = nameFault(String(name)) ?? tagFault(value)
      if (fault) return `its tag ${quoted(String(name))} ${fault}`
    }
    const key = texts.length ? JSON.stringify([source, texts.map(([name, value]) => [name, String(value)])]) : `=${source}`
    let series = this.#series.get(key)
    if (!series) {
      if (this.#series.size === MAX_SERIES) return `the message has more than ${MAX_SERIES} combinations of source and tags`
      const ownTags = Object.fromEntries(texts.map(([name, value]) => [name, String(value)]))
      series = new Series(source, ownTags, this.#budget, this.#hasOneNumber)
      this.#series.set(key, series)
    }
    return series
  }
}

/** @param {string} name */
export function quoted (name) {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)
}

/** Why it cannot be a tag's value; null where it can. @param {unknown} value */
export function tagFault (value) {
  if (!['string', 'number', 'boolean', 'bigint'].includes(typeof value)) return 'is not text'
  return String(value).length > MAX_TAG ? `is over ${MAX_TAG} characters` : null
}
