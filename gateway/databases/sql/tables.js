import { MEASUREMENTS } from '../../batch/layouts.js'
import { caseMarked, quote } from '../names.js'
import { withKey } from '../upsert/rows.js'
import { primaryKey } from '../upsert/sql.js'
import { misfit, wideColumns } from '../wide.js'

/**
 * How sinks find and complete their tables.
 *
 * @typedef {import('../wide.js').WideColumn} WideColumn
 * @typedef {import('../wide.js').Dialect & import('../names.js').NameRules} Dialect
 * @typedef {{exists: boolean} & ReturnType<typeof import('../wide.js').fitTable>} Found  a table as it is, with the result of `fitTable`
 */

/** The comment of a table that Sluice made. Users can add it to theirs. */
export const OWNED = 'Sluice'

/** How often to look again at a table that others change as well. */
const ATTEMPTS = 20

/**
 * The columns that rows need, of a layout that all sinks have.
 * @param {import('../../batch/batch.js').Batch} arranged
 * @param {Dialect} dialect
 * @param {boolean} withSource  several sources share the table
 * @param {{layout?: string, key?: string[]}} options  of the sink
 */
export function columnsOf (arranged, dialect, withSource, options) {
  return withKey(wideColumns(arranged, dialect, withSource, options.layout === 'document' ? MEASUREMENTS : undefined), arranged, options)
}

/**
 * The table once it has all columns.
 * @template {Found} T
 * @param {() => Promise<T>} read
 * @param {(found: T) => Promise<unknown>} complete  creates what is missing
 * @param {(error: any) => boolean} [alreadyExists]  whether another has just created the same table or column
 * @returns {Promise<T>}
 */
export async function completeTable (read, complete, alreadyExists = () => false) {
  for (let attempt = 1; ; attempt++) {
    const found = await read()
    if (found.missing.length === 0) return found
    try {
      await complete(found)
    } catch (error) {
      if (attempt === ATTEMPTS || !alreadyExists(error)) throw error
    }
  }
}

/**
 * A source's name leads only to tables that Sluice made, or was told of: it may be the name of a table with another purpose.
 * @param {string} name
 * @param {boolean} withSource  not a source, but a user has named the table
 * @param {string|null} comment  of the table that has the name
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export function checkOwner (name, withSource, comment) {
  if (withSource || isOwned(comment)) return
  throw misfit(name, 'Sluice did not make it', 'Rename the source, or set another table. To store in this one, name it as the sink\'s ' +
    `table, or give it a comment with the word ${OWNED}.`)
}

/**
 * Rows are removed from no other table, even where a user has named it: it may hold more than Sluice has stored there.
 * @param {string|null|undefined} comment  of a table
 */
export function isOwned (comment) {
  return comment?.includes(OWNED) ?? false
}

/**
 * The columns of a new table, for CREATE TABLE: each row has a time and, where several share the table, a source; and a key, if it has one.
 * @param {WideColumn[]} columns
 * @param {(column: WideColumn) => string} declaration
 */
export function declarations (columns, declaration) {
  const always = (/** @type {WideColumn} */ { origin, isKey }) => origin === 'time' || origin === 'source' || isKey
  return columns.map(column => declaration(column) + (always(column) ? ' NOT NULL' : '')).join(', ') + primaryKey(columns)
}

/** How ANSI SQL declares a column of a dialect's type. @param {Dialect} dialect @returns {(column: WideColumn) => string} */
export function declarationIn ({ columnTypes }) {
  return ({ name, type }) => `${quote(name)} ${columnTypes[type]}`
}

/**
 * The table of that very name, where the database treats names that differ only by case as the same: the second gets a mark.
 * @param {string} name
 * @param {{name: string, type: string}[]} alike  what the database has under it
 */
export function physicalName (name, alike) {
  const other = alike.find(({ type }) => type !== 'table')
  if (other) {
    const what = other.type === 'index' ? 'an index' : `a ${other.type}`
    throw misfit(name, `${quote(other.name)} is ${what}`, 'Name the source or the table differently.')
  }
  return alike.length === 0 || alike.some(found => found.name === name) ? name : caseMarked(name)
}
