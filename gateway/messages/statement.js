import { SluiceError } from '../base/errors.js'
import { isSql, readInsert } from './insert.js'
import { dateAsText, timed } from './rows.js'
import { mysql, postgresql } from './sql-tokens.js'
import { NANOSECONDS_PER } from '../batch/time.js'

/**
 * The rows of INSERT statements, as the nodes for PostgreSQL and MySQL accept them: the statement in msg.query with its values in
 * msg.params or msg.queryParameters, or the statement in msg.topic with its values in msg.payload.
 *
 * @typedef {import('./insert.js').Cell} Cell
 * @typedef {import('./insert.js').Insert} Insert
 * @typedef {import('./contents.js').Contents} Contents
 * @typedef {import('./contents.js').Message} Message
 */

const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?$/

/**
 * @param {Message} message
 * @param {() => bigint} now  in nanoseconds
 * @returns {Contents|null} null where the message has no SQL
 * @throws {SluiceError} SLUICE_PAYLOAD_SQL where it is not a plain INSERT, or a value is missing
 */
export function statementOf ({ query, params, queryParameters, topic, payload, pgsql }, now) {
  if (typeof query === 'string' && pgsql === undefined && isSql(query)) { // with msg.pgsql, the payload is the statement's result
    const given = Array.isArray(params) && params.length > 0 ? params : queryParameters
    return contentsOf(readInsert(query, postgresql, 'msg.query'), given, now)
  }
  if (typeof topic === 'string' && isSql(topic)) return contentsOf(readInsert(topic, mysql, 'msg.topic'), payload, now)
  return null
}

/** @param {Insert} insert @param {unknown} given  the values of its parameters @param {() => bigint} now @returns {Contents} */
function contentsOf ({ table, columns, rows }, given, now) {
  const read = (/** @type {unknown} */ values) => readRow(columns, values)
  return { source: table, read, rows: rows.length > 0 ? filledIn(rows, given, now) : bulkOf(given) }
}

/** @param {string[]} columns @param {unknown} values */
function readRow (columns, values) {
  if (!Array.isArray(values) || values.length !== columns.length) {
    throw refusal(`the row has ${Array.isArray(values) ? values.length : 'no'} values for ${columns.length} columns`)
  }
  const row = timed(Object.fromEntries(columns.map((column, i) => [column, values[i]])))
  for (const column of columns) {
    if (column !== row.timeKey) row.values[column] = dateAsText(row.values[column])
  }
  if (typeof row.time === 'string' && WITHOUT_ZONE.test(row.time)) row.time += 'Z'
  return row
}

/** Of `VALUES ?`: its one parameter is a list of rows. @param {unknown} given @returns {unknown[]} */
function bulkOf (given) {
  const [first] = Array.isArray(given) ? given : []
  const rows = Array.isArray(first) && Array.isArray(first[0]) ? first : given
  if (!Array.isArray(rows) || rows.length === 0) throw refusal('VALUES ? needs a list of rows in msg.payload')
  return rows
}

/** @param {Cell[][]} rows @param {unknown} given @param {() => bigint} now @returns {unknown[][]} */
function filledIn (rows, given, now) {
  let next = 0
  const valueOf = (/** @type {Cell} */ cell) => {
    if ('literal' in cell) return cell.literal
    if ('now' in cell) return new Date(Number(now() / NANOSECONDS_PER.ms))
    const { parameter } = cell
    if (parameter === '?') return valueAt(given, next++, `"?" number ${next}`)
    return valueAt(given, /^\d+$/.test(parameter) ? Number(parameter) - 1 : parameter, `"${parameter}"`)
  }
  return rows.map(cells => {
    const values = cells.map(valueOf)
    return values.length === 1 && Array.isArray(values[0]) ? values[0] : values
  })
}

/** @param {any} given @param {number|string} key @param {string} parameter  as errors name it */
function valueAt (given, key, parameter) {
  const isThere = typeof key === 'number'
    ? Array.isArray(given) && key >= 0 && key < given.length
    : typeof given === 'object' && given !== null && Object.hasOwn(given, key)
  if (!isThere) throw refusal(`the value for ${parameter} is missing`)
  return given[key]
}

/** @param {string} what */
function refusal (what) {
  return new SluiceError('SLUICE_PAYLOAD_SQL', `The INSERT statement cannot be filled in: ${what}.`)
}
