import { MAX_FIELDS, tooLarge } from '../bounds.js'
import { contentsOf } from '../contents.js'
import { flatValues } from '../documents.js'
import { isBare, isPlainObject, timed } from '../rows.js'
import { shown } from './fault.js'
import { valueAt } from './paths.js'

/**
 * The rows of a JSON document, by a mapping.
 *
 * @typedef {import('./places.js').Place} Place
 * @typedef {import('../rows.js').PlainObject} PlainObject
 * @typedef {import('../contents.js').Message} Message
 *
 * @typedef {object} MappedRow
 * @property {Record<string, unknown>} values  by the names of their fields
 * @property {unknown} time  null where it has none
 * @property {Record<string, unknown>} tags  of the JSON
 * @property {unknown} [measurement]  that the row names
 * @property {boolean} isCut  fields were left out that the mapping does not want
 *
 * @typedef {object} MappedRows
 * @property {unknown[]} rows
 * @property {(row: unknown) => MappedRow|null} read  null where it is not a row; may throw
 * @property {unknown} [source]  that the document names
 */

/** @type {import('../rows.js').Row} */
const NO_TIME = { values: {} }
const BARE = 'value'
const BARE_TEXT = 'text'

/**
 * What the payload of a message holds.
 * @param {Message} message @param {Place} place @param {() => bigint} now
 * @returns {MappedRows}
 */
export function mappedRows (message, place, now) {
  const { payload } = message
  const { plan } = place
  if (plan.rows) {
    const rows = valueAt(payload, plan.rows)
    if (!Array.isArray(rows)) throw new Error(`it has no array ${shown(plan.rows.join('.'))}`)
    return { rows, read: row => isPlainObject(row) ? readObject(row, place, payload) : null }
  }
  if (isBare(payload)) return { rows: [payload], read: value => readBare(value, place) }
  if (Array.isArray(payload) && payload.length > 0 && payload.every(isBare)) {
    if (payload.length > MAX_FIELDS) throw tooLarge(`it has ${payload.length} values for a row of at most ${MAX_FIELDS} fields`)
    return { rows: [payload], read: () => readList(payload, place) }
  }
  if (plan.values) {
    const rows = Array.isArray(payload) ? payload : [payload]
    return { rows, read: row => isPlainObject(row) ? readObject(row, place) : null }
  }
  const { rows, read, source, tags } = contentsOf(message, now, true) ?? { rows: [], read: () => null }
  return { rows, read: row => readAny(row, read, place, tags), source }
}

/**
 * A row as any payload may have it.
 * @param {unknown} row @param {import('../contents.js').Contents['read']} readRow @param {Place} place @param {PlainObject} [ownTags]
 * @returns {MappedRow|null}
 */
export function readAny (row, readRow, place, ownTags) {
  const { plan } = place
  const read = readRow(row)
  if (!read) return null
  const { timeKey, time, measurement, tags = ownTags } = read
  // A row that has its time elsewhere may have a value that is called ts.
  const values = plan.time && timeKey !== undefined ? { ...read.values, [timeKey]: time } : without(read.values, timeKey)
  return {
    ...fieldsOf(values, place),
    time: plan.time ? valueAt(row, plan.time) : time,
    tags: { ...tags, ...tagsOf(row, place) },
    measurement
  }
}

/**
 * A row whose values are in an object of it, or that is in an array.
 * @param {PlainObject} row @param {Place} place @param {unknown} [root]
 * @returns {MappedRow}
 */
export function readObject (row, place, root = row) {
  const { plan } = place
  const find = (/** @type {string[]} */ path) => valueAt(row, path) ?? valueAt(root, path)
  const object = plan.values ? valueAt(row, plan.values) : row
  if (!isPlainObject(object)) throw new Error(`it has no object ${shown(plan.values?.join('.'))}`)
  const outer = plan.values ? timed(row) : NO_TIME
  const inner = plan.time || outer.timeKey ? NO_TIME : timed(object)
  return {
    ...fieldsOf(flatValues(object, inner.timeKey), place),
    time: plan.time ? find(plan.time) : outer.time ?? inner.time,
    tags: Object.fromEntries(plan.tags.map(({ name, path }) => [name, find(path)]))
  }
}

/** @param {unknown} row @param {Place} place */
function tagsOf (row, { plan }) {
  return Object.fromEntries(plan.tags.map(({ name, path }) => [name, valueAt(row, path)]))
}

/** @param {Record<string, unknown>} values @param {string|undefined} name */
function without (values, name) {
  if (name === undefined || !Object.hasOwn(values, name)) return values
  return Object.fromEntries(Object.entries(values).filter(([other]) => other !== name))
}

/** A number, a truth value or a text alone: texts have a name of their own, so that a table can hold what different topics send. */
function readBare (/** @type {unknown} */ value, /** @type {Place} */ place) {
  const { plan: { isPerTopic }, field } = place
  const isText = typeof value === 'string' && !isPerTopic
  const name = field === undefined ? isText ? BARE_TEXT : BARE : isText ? `${field}_${BARE_TEXT}` : field
  const number = typeof value === 'boolean' && !isPerTopic ? Number(value) : value
  return { ...filtered({ [name]: number }, place), time: null, tags: {} }
}

/** @param {unknown[]} list @param {Place} place */
function readList (list, place) {
  const { field = BARE } = place
  return { ...filtered(Object.fromEntries(list.map((value, i) => [`${field}${i}`, value])), place), time: null, tags: {} }
}

/** @param {Record<string, unknown>} values  by the names of the JSON @param {Place} place */
function fieldsOf (values, place) {
  const { plan: { taken }, field } = place
  if (taken.size === 0 && field === undefined) return filtered(values, place)
  const names = Object.keys(values).filter(name => !taken.has(name))
  return filtered(Object.fromEntries(names.map(name => [field === undefined ? name : `${field}.${name}`, values[name]])), place)
}

/** Those that the mapping wants, with its prefix. @param {Record<string, unknown>} values @param {Place} place */
function filtered (values, { plan: { accepts, prefix } }) {
  const names = Object.keys(values)
  const wanted = names.filter(accepts)
  const isCut = wanted.length < names.length
  if (!isCut && prefix === '') return { values, isCut }
  return { values: Object.fromEntries(wanted.map(name => [prefix + name, values[name]])), isCut }
}
