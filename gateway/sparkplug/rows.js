import { Batch } from '../batch/batch.js'
import { QUALITY_FIELD, qualityColumn, qualityText } from '../batch/quality.js'
import { describe } from '../base/errors.js'
import { MAX_RECORDS, tooLarge } from '../messages/bounds.js'
import { Series } from '../messages/series.js'
import { MAX_ELEMENTS } from './arrays.js'
import { qualityOf } from './codec.js'
import { Bad, TOO_LONG } from './datatypes.js'
import { fieldsOf } from './definitions.js'

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
 * @typedef {{cells: number, budget: import('../messages/bounds.js').CellBudget}} Room  that the values of one payload still have
 *
 * @typedef {{rows: Row[], latest: Map<bigint, Row>, tags: Record<string, string>}} Table  `latest`: the last row begun for each time
 */

const NO_ROOM = describe(tooLarge(`it has over ${MAX_RECORDS} values`))

/** The metrics of one payload as batches: those with the same time make a row, and historical ones have batches of their own. */
export class Rows {
  #source
  /** @type {Table} */
  #live
  /** @type {Table} */
  #historical
  #room

  /** @param {string} source @param {Record<string, string>} tags @param {Room} room */
  constructor (source, tags, room) {
    this.#source = source
    this.#room = room
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
    if (value === TOO_LONG) return `its array "${name}" has over ${MAX_ELEMENTS} elements`
    if (datatype.isArray && Array.isArray(value)) definition.elements = value.length
    const bad = isNull || value instanceof Bad ? value : badOf(qualityOf(metric))
    if (definition.elements === 0) return null
    if ((this.#room.cells -= definition.elements ?? 1) < 0) return NO_ROOM
    const fields = fieldsOf(definition)
    const row = rowFor(table, ns, ({ cells }) => !cells.has(fields[0]))
    fields.forEach((field, i) => put(row, definition, field, bad ?? (Array.isArray(value) ? value[i] : value)))
    return null
  }

  /**
   * A row in which all values are missing, for one reason.
   * @param {Iterable<Definition>} definitions
   * @param {bigint} ns
   * @param {Bad} reason
   * @returns {string|null} why not all of them are
   */
  takeMissing (definitions, ns, reason) {
    for (const definition of definitions) {
      if (definition.name === QUALITY_FIELD) continue
      if ((this.#room.cells -= definition.elements ?? 1) < 0) return NO_ROOM
      for (const field of fieldsOf(definition)) put(rowFor(this.#live, ns, () => true), definition, field, reason)
    }
    return null
  }

  /** @param {(reason: string) => void} refuse  called where rows are left out @returns {Batch[]} */
  batches (refuse) {
    const batchOfChunk = (/** @type {Record<string, string>} */ tags) => (/** @type {Row[]} */ chunk) => {
      return batchOf(new Series(this.#source, tags, this.#room.budget), chunk, refuse)
    }
    return [this.#historical, this.#live].flatMap(({ rows, tags }) => split(rows).map(batchOfChunk(tags)))
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
  /** @type {Map<string, number>} in which batch a field is */
  const places = new Map()
  for (const { cells } of rows) {
    for (const name of cells.keys()) if (!places.has(name)) places.set(name, Math.floor(places.size / MAX_ELEMENTS))
  }
  if (places.size <= MAX_ELEMENTS) return rows.length > 0 ? [rows] : []
  /** @type {Row[][]} */
  const chunks = Array.from({ length: Math.ceil(places.size / MAX_ELEMENTS) }, () => [])
  for (const row of rows) {
    /** @type {Map<number, Row>} */
    const parts = new Map()
    for (const [name, cell] of row.cells) {
      const place = places.get(name) ?? 0
      let part = parts.get(place)
      if (!part) parts.set(place, part = { ...row, cells: new Map(), reasons: new Map() })
      part.cells.set(name, cell)
      const reason = row.reasons.get(name)
      if (reason !== undefined) part.reasons.set(name, reason)
    }
    for (const [place, part] of parts) chunks[place].push(part)
  }
  return chunks
}

/** @param {Series} series  empty @param {Row[]} rows @param {(reason: string) => void} refuse */
function batchOf (series, rows, refuse) {
  /** @type {Row[]} */
  const kept = []
  /** @type {string|null} */
  let reason = null
  for (const row of rows) {
    const why = series.add(row.ns, [...row.cells.values()])
    if (why) reason = why
    else kept.push(row)
  }
  if (reason !== null) refuse(`${rows.length - kept.length} of its rows: ${reason}`)
  const batch = series.toBatch()
  const quality = qualityColumn(kept.map(row => row.quality ?? qualityText(row.reasons, series.columns.size)))
  if (!quality) return batch
  return new Batch({
    ...batch,
    fields: [...batch.fields, quality.field],
    columns: [...batch.columns, quality.column],
    validity: [...batch.validity, quality.validity]
  })
}
