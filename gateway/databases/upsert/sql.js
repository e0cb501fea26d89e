import { quote } from '../names.js'
import { misfit } from '../wide.js'
import { EPOCH, ORIGIN, SEQ } from './layout.js'

/**
 * Upserts in the SQL of databases that have ON CONFLICT.
 *
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {{name: string}[]} Columns
 */

/** What the row that is there is called. */
export const STORED = 'sluice_stored'

/** The columns by which a row is found; none of a table of another layout. @param {PlacedColumn[]} columns */
export function keyOf (columns) {
  return columns.filter(({ isKey }) => isKey)
}

/** @param {Columns} columns */
export function names (columns) {
  return columns.map(({ name }) => quote(name)).join(', ')
}

/** For CREATE TABLE, after the columns. @param {(import('../wide.js').WideColumn)[]} columns @param {typeof names} list */
export function primaryKey (columns, list = names) {
  const key = columns.filter(({ isKey }) => isKey)
  return key.length === 0 ? '' : `, PRIMARY KEY (${list(key)})`
}

/**
 * The end of an INSERT into a table called `STORED`: whole rows are replaced, what they lack too, by newer ones.
 * @param {PlacedColumn[]} columns  of the rows
 * @param {Columns} rest  the table's other columns
 */
export function onConflict (columns, rest) {
  const key = keyOf(columns)
  if (key.length === 0) return ''
  const changed = [...columns.filter(column => !key.includes(column)), ...rest]
  const version = (/** @type {string} */ of) => `(${of}.${EPOCH}, ${of}.${SEQ})`
  return ` ON CONFLICT (${names(key)}) DO UPDATE SET ${changed.map(({ name }) => `${quote(name)} = excluded.${quote(name)}`).join(', ')}` +
    ` WHERE (excluded.${EPOCH} < 0 AND excluded.${EPOCH} <> ${STORED}.${EPOCH}) OR ${version('excluded')} > ${version(STORED)}`
}

/** An INSERT from rows that wait in another table: of each key the newest. @param {string} table @param {string} waiting */
export function insertNewest (table, waiting, /** @type {PlacedColumn[]} */ columns, /** @type {Columns} */ rest) {
  const key = names(keyOf(columns))
  return `INSERT INTO ${table} AS ${STORED} (${names(columns)}) SELECT DISTINCT ON (${key}) ${names(columns)} FROM ${waiting} ` +
    `ORDER BY ${key}, ${EPOCH} DESC, ${SEQ} DESC${onConflict(columns, rest)}`
}

/** Of a table that was there before. @param {string} table @param {Columns} key */
export function noKey (table, key) {
  const fields = key.map(({ name }) => name).filter(name => name !== ORIGIN)
  return misfit(table, `it has no unique index on exactly ${names(key)}, by which an upsert finds the row of a key`,
    `Set another table, which is created with it; or another key than ${fields.join(', ')}.`)
}
