import { Batch } from '../batch/batch.js'
import { QUALITY_FIELD, qualityColumn, qualityText } from '../batch/quality.js'
import { MAX_FIELDS, Series } from '../messages/series.js'
import { qualityOf } from './codec.js'
import { Bad } from './datatypes.js'

/**
 * @typedef {import('../messages/series.js').Cell} Cell
 * @typedef {import('./codec.js').Metric} Metric
 * @typedef {import('./definitions.js').Definition} Definition
 *
 * @typedef {object} Row
 * @property {bigint} ns
 * @property {Map<string, Cell>} cells  by name
 * @property {Map<string, string>} reasons  why values are missing, by the name of their cell
 * @property {string} [quality]  what the source itself reports about the row
 *
 * @typedef {{rows: Row[], latest: Map<bigint, Row>, tags: Record<string, string>}} Table  `latest`: the last row begun for each time
 */

/** Fields of a batch besides the quality. */
const MAX_VALUES = MAX_FIELDS - 1

/** The metrics of one payload as batches: those with the same time make a row, and historical ones have batches of their own. */
export class Rows {
  #source
  /** @type {Table} */
  #live
  /** @type {Table} */
  #historical

  /** @param {string} source @param {Record<string, string>} tags */
  constructor (source, tags) {
    this.#source = source
    this.#live = { rows: [], latest: new Map(), tags }
    this.#historical = { rows: [], latest: new Map(), tags: { ...tags, historical: 'true' } }
  }

  /** @param {Definition} definition @param {Metric} metric @param {bigint} ns @returns {string|null} why its value was refused */
  take (definition, metric, ns) {
    const { name, datatype } = definition
    const table = metric.isHistorical ? this.#historical : this.#live
    const isNull = metric.isNull || metric.value.case === undefined
    const value = isNull ? new Bad(qualityOf(metric) ?? 'null') : datatype.read(metric.value)
    if (name === QUALITY_FIELD) {
      if (typeof value === 'string' && value !== '') rowFor(table, ns, ({ quality }) => quality === undefined).quality = value
      return null
    }
    if (datatype.isArray && Array.isArray(value)) {
      if (value.length > MAX_VALUES) return `its array "${name}" has over ${MAX_VALUES} elements`
      definition.fields = value.map((_, i) => `${name}[${i}]`)
    }
    const bad = isNull || value instanceof Bad ? value : badOf(qualityOf(metric))
    const { fields } = definition
    if (fields.length === 0) return null
    const row = rowFor(table, ns, ({ cells }) => !cells.has(fields[0]))
    fields.forEach((field, i) => put(row, definition, field, bad ?? (Array.isArray(value) ? value[i] : value)))
    return null
  }

  /**
   * A row in which all values are missing, for one reason.
   * @param {Iterable<Definition>} definitions
   * @param {bigint} ns
   * @param {Bad} reason
   */
  takeMissing (definitions, ns, reason) {
    for (const definition of definitions) {
      if (definition.name === QUALITY_FIELD) continue
      for (const field of definition.fields) put(rowFor(this.#live, ns, () => true), definition, field, reason)
    }
  }

  /** @returns {Batch[]} */
  batches () {
    return [this.#historical, this.#live].flatMap(({ rows, tags }) => split(rows).map(chunk => batchOf(this.#source, tags, chunk)))
  }
}

/** @param {string|undefined} reason */
function badOf (reason) {
  return reason === undefined ? undefined : new Bad(reason)
}

/**
 * The last row begun for a time, if it has room; a value that comes twice with one time begins another.
 * @param {Table} table @param {bigint} ns @param {(row: Row) => boolean} hasRoom
 */
function rowFor ({ rows, latest }, ns, hasRoom) {
  const begun = latest.get(ns)
  if (begun && hasRoom(begun)) return begun
  /** @type {Row} */
  const row = { ns, cells: new Map(), reasons: new Map() }
  rows.push(row)
  latest.set(ns, row)
  return row
}

/** @param {Row} row @param {Definition} definition @param {string} name @param {unknown} value  Bad where it is missing */
function put (row, { datatype: { field: type }, unit }, name, value) {
  const isBad = value instanceof Bad
  row.cells.set(name, { name, type, unit, value: isBad ? undefined : value })
  if (isBad) row.reasons.set(name, value.reason)
}

/** Rows with more fields than a batch may have, split by fields into those of several. @param {Row[]} rows @returns {Row[][]} */
function split (rows) {
  const names = [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))]
  if (names.length <= MAX_VALUES) return rows.length > 0 ? [rows] : []
  return Array.from({ length: Math.ceil(names.length / MAX_VALUES) }, (_, chunk) => {
    const own = new Set(names.slice(chunk * MAX_VALUES, (chunk + 1) * MAX_VALUES))
    const chosen = (/** @type {Map<string, any>} */ map) => new Map([...map].filter(([name]) => own.has(name)))
    return rows.map(row => ({ ...row, cells: chosen(row.cells), reasons: chosen(row.reasons) })).filter(({ cells }) => cells.size > 0)
  })
}

/** @param {string} source @param {Record<string, string>} tags @param {Row[]} rows */
function batchOf (source, tags, rows) {
  const series = new Series(source, tags)
  for (const { ns, cells } of rows) series.add(ns, [...cells.values()])
  const batch = series.toBatch()
  const quality = qualityColumn(rows.map(row => row.quality ?? qualityText(row.reasons, series.columns.size)))
  if (!quality) return batch
  return new Batch({
    ...batch,
    fields: [...batch.fields, quality.field],
    columns: [...batch.columns, quality.column],
    validity: [...batch.validity, quality.validity]
  })
}
