import { quote } from '../names.js'
import { misfit } from '../wide.js'

/**
 * Tables that users made for other programs, and name as a sink's table: rows fill their columns, and columns of Sluice's own are added
 * only where they have none for the time.
 *
 * @typedef {import('../wide.js').WideColumn} WideColumn
 * @typedef {import('../wide.js').TableColumn} TableColumn
 */

/** Kinds of columns that hold a point in time. */
const TIMES = /^(?:datetime|timestamp)/

/** What a message, too, calls the time of a row. */
const TIME_NAMES = ['time', 'timestamp', 'ts']

/**
 * What of the wanted columns such a table is to have, under its own names.
 * @param {{name: string, source: string}} table  `source`: of the rows. That of an INSERT is the table itself, which no column need say
 * @param {WideColumn[]} wanted
 * @param {TableColumn[]} existing
 * @param {import('../names.js').NameRules} rules
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export function wantedOfOthers ({ name: table, source }, wanted, existing, { fold }) {
  const columnOf = (/** @type {string} */ name) => existing.find(column => fold(column.name) === name)
  const times = existing.filter(({ kind, computed }) => TIMES.test(kind) && !computed)
  if (times.length === 0) {
    const unclear = columnOf('time') ? undefined : TIME_NAMES.map(columnOf).find(column => column)
    if (unclear) throw unclearTime(table, unclear)
    return wanted
  }
  const time = TIME_NAMES.map(name => times.find(column => fold(column.name) === name)).find(column => column) ?? times[0]
  if (times.length > 1 && !TIME_NAMES.includes(fold(time.name))) throw manyTimes(table, times)
  const isItself = source === table
  const bringsSource = isItself && wanted.some(({ name }) => SOURCES.includes(name))
  return wanted.flatMap(column => {
    const { type, origin, name } = column
    if (type === 'time') return [{ ...column, name: time.name }]
    if (isItself && SOURCES.includes(name)) return [{ ...column, name: 'source' }]
    if (origin === 'source' && isItself && (bringsSource || !columnOf('source'))) return []
    return type === 'time_ns' && !columnOf(name) ? [] : [column]
  })
}

/** How a value called source is stored beside the source. */
const SOURCES = ['source~field', 'source~tag']

/** @param {string} table @param {TableColumn} column */
function unclearTime (table, { name, kind, shown = kind }) {
  return misfit(table, `its column ${quote(name)} is of type ${shown}, which does not say in what unit it holds the time`,
    'Give it a type for times, where the database has one, or set another table, which the sink creates.')
}

/** @param {string} table @param {TableColumn[]} times */
function manyTimes (table, times) {
  const names = times.map(({ name }) => quote(name)).join(', ')
  return misfit(table, `its columns ${names} hold times, and none of them is called time, timestamp or ts`,
    'Rename the one that is the time of a row, or set another table.')
}
