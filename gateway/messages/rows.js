import { types } from 'node:util'
import { MAX_FIELDS, tooLarge } from './bounds.js'

/**
 * Splits the payloads that a Node-RED message or a third-party MQTT message may carry into rows. `toBatches` defines what a row is.
 *
 * @typedef {Record<string, unknown>} PlainObject
 * @typedef {{values: PlainObject, time?: unknown, timeKey?: string, tags?: PlainObject, measurement?: unknown}} Row
 *   `timeKey` is the name of the value that is the time
 */

export const TIME_KEYS = ['time', 'timestamp', 'ts']
export const POINT_KEYS = new Set(['measurement', 'tags', 'fields', 'values', ...TIME_KEYS])
export const TABLE_KEYS = new Set(['source', 'tags', 'rows'])

/**
 * The rows of a payload, each still to be read by `readRow`, and what applies to all of them.
 * @param {unknown} payload
 * @param {{measured?: boolean}} [options]  `measured`: the message names a measurement, so that two objects are fields and tags
 * @returns {{rows: unknown[], source?: unknown, tags?: PlainObject}}
 * @throws {import('../base/errors.js').SluiceError} SLUICE_MESSAGE_TOO_LARGE
 */
export function rowsOf (payload, { measured = false } = {}) {
  if (Array.isArray(payload)) {
    if (isFieldsAndTags(payload) || (measured && isDisjointPair(payload))) return { rows: [payload] }
    if (payload.length === 1 && !measured && isListOfObjects(payload[0]) && !mayBePoint(payload[0])) return { rows: payload[0] }
    if (payload.length && payload.every(isBare)) {
      if (payload.length > MAX_FIELDS) throw tooLarge(`it has ${payload.length} values for a row of at most ${MAX_FIELDS} fields`)
      return { rows: [Object.fromEntries(payload.map((value, i) => [`value${i}`, value]))] }
    }
    return { rows: payload }
  }
  if (!isPlainObject(payload)) return { rows: [{ value: payload }] }
  const { rows, source, tags } = payload
  if (Array.isArray(rows) && Object.keys(payload).every(key => TABLE_KEYS.has(key)) && (tags == null || isPlainObject(tags))) {
    return { rows, source, tags: tags ?? undefined }
  }
  return { rows: [payload] }
}

/** One row; null where it is not a row. @param {unknown} row @returns {Row|null} */
export function readRow (row) {
  if (Array.isArray(row)) {
    const [fields, tags] = row
    const isPoint = row.length <= 2 && isPlainObject(fields) && (tags == null || isPlainObject(tags))
    return isPoint ? { ...timed(fields), tags: tags ?? undefined } : null
  }
  if (!isPlainObject(row)) return null
  return readPoint(row) ?? timed(row)
}

/** `{measurement, tags, fields, time}`, with `values` for `fields` as well. @param {PlainObject} row @returns {Row|null} */
function readPoint (row) {
  const values = row.fields ?? row.values
  if (!isPlainObject(values) || !Object.keys(row).every(key => POINT_KEYS.has(key))) return null
  const { measurement } = row
  const tags = row.tags ?? undefined
  if ((row.fields != null && row.values != null) || (tags !== undefined && !isPlainObject(tags))) return null
  const timeKey = timeKeyOf(row)
  return timeKey ? { values, time: row[timeKey], tags, measurement } : { ...timed(values), tags, measurement }
}

/** Values, one of which may be the time. @param {PlainObject} values @returns {Row} */
export function timed (values) {
  const timeKey = timeKeyOf(values)
  return timeKey ? { values, time: values[timeKey], timeKey } : { values }
}

/** @param {PlainObject} object */
function timeKeyOf (object) {
  return TIME_KEYS.find(key => Object.hasOwn(object, key) && object[key] != null)
}

/**
 * Whether an array of two objects is one point with its tags, not two rows: the second holds only text, none of it under a name of the
 * first, which does not hold only text.
 * @param {unknown[]} array
 */
function isFieldsAndTags (array) {
  if (!isPair(array)) return false
  const [fields, tags] = array
  return Object.keys(tags).length > 0 && Object.values(tags).every(isText) && haveNothingInCommon(fields, tags) &&
    !Object.values(fields).every(isText)
}

/** Two objects without a common name, as only fields and tags are. @param {unknown[]} array */
function isDisjointPair (array) {
  if (!isPair(array)) return false
  const [fields, tags] = array
  return !readPoint(tags) && haveNothingInCommon(fields, tags)
}

/** Two objects that may be fields and their tags. @param {unknown[]} array @returns {array is [PlainObject, PlainObject]} */
function isPair (array) {
  const [fields, tags] = array
  return array.length === 2 && isPlainObject(fields) && isPlainObject(tags) && !readPoint(fields) && !timeKeyOf(tags)
}

/** @param {unknown} value */
function isText (value) {
  return typeof value === 'string'
}

/** Fields and perhaps their tags, not rows. @param {PlainObject[]} objects */
function mayBePoint (objects) {
  const [fields, tags = {}] = objects
  return objects.length <= 2 && haveNothingInCommon(fields, tags)
}

/** @param {PlainObject} one @param {PlainObject} other */
function haveNothingInCommon (one, other) {
  return Object.keys(other).every(key => !Object.hasOwn(one, key))
}

/** @param {unknown} value @returns {value is PlainObject[]} */
function isListOfObjects (value) {
  return Array.isArray(value) && value.length > 0 && value.every(isPlainObject)
}

/** A date that is a value, not the time of its row. @param {unknown} value */
export function dateAsText (value) {
  return types.isDate(value) && !Number.isNaN(value.getTime()) ? value.toISOString() : value
}

/** @param {unknown} value */
export function isBare (value) {
  return value == null || ['number', 'bigint', 'boolean', 'string'].includes(typeof value)
}

/**
 * Function nodes create their objects in a realm of their own, where prototypes differ.
 * @param {unknown} value
 * @returns {value is PlainObject}
 */
export function isPlainObject (value) {
  return Object.prototype.toString.call(value) === '[object Object]'
}
