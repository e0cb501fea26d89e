import { quote } from '../names.js'
import { checkOwner, completeTable, declarationIn, declarations, isOwned, OWNED, physicalName } from '../sql/tables.js'
import { fitTable } from '../wide.js'
import { isThere } from './commit-records.js'
import { dialect } from './dialect.js'

/**
 * @typedef {import('./session.js').Session} Session
 * @typedef {{table: string, columns: import('../wide.js').PlacedColumn[], insert: string}} Plan
 */

/**
 * @param {Session} session
 * @param {string} name
 * @param {import('../wide.js').WideColumn[]} wanted
 * @param {boolean} withSource  several sources share the table
 * @returns {Promise<Plan>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareTable (session, name, wanted, withSource) {
  const declaration = declarationIn(dialect)
  const { columns } = await completeTable(async () => {
    const its = await lookUp(session, name)
    physicalName(name, its ? [{ name, type: its.type }] : [])
    if (its) checkOwner(name, withSource, its.comment)
    const existing = await readColumns(session, name)
    return { exists: existing.length > 0, ...fitTable(name, wanted, existing, dialect) }
  }, ({ exists, missing }) => session.run(exists
    ? `ALTER TABLE ${quote(name)} ADD (${missing.map(declaration).join(', ')})`
    : `CREATE COLUMN TABLE ${quote(name)} (${declarations(missing, declaration)}) COMMENT '${OWNED}'`), isThere)
  const names = columns.map(column => quote(column.name)).join(', ')
  return { table: name, columns, insert: `INSERT INTO ${quote(name)} (${names}) VALUES (${columns.map(() => '?').join(', ')})` }
}

/**
 * @param {Session} session
 * @param {string} name
 * @returns {Promise<import('../recorded/aging.js').AgingTable|null>}
 */
export async function agingTable (session, name) {
  const its = await lookUp(session, name)
  if (!its) return null
  const table = quote(name)
  return {
    isOwned: isOwned(its.comment),
    async span () {
      const [{ OLDEST: oldest, NEWEST: newest }] = await session.rows(
        `SELECT MIN("time_ns") AS OLDEST, MAX("time_ns") AS NEWEST FROM ${table}`)
      return oldest === null ? null : { oldest: BigInt(oldest), newest: BigInt(newest) }
    },
    async removeBefore (before, maxRows) {
      // The time of the row after so many of them: those of the same time go together.
      const [next] = await session.rows(
        `SELECT "time_ns" AS T FROM ${table} WHERE "time_ns" < ? ORDER BY "time_ns" LIMIT 1 OFFSET ?`, [String(before), maxRows - 1])
      const limit = next ? BigInt(next.T) + 1n : before
      return session.each(`DELETE FROM ${table} WHERE "time_ns" < ?`, [[String(limit < before ? limit : before)]])
    }
  }
}

/** @param {Session} session @param {string} name */
async function lookUp (session, name) {
  const where = 'SCHEMA_NAME = CURRENT_SCHEMA AND'
  const [table] = await session.rows(`SELECT COMMENTS AS C FROM SYS.TABLES WHERE ${where} TABLE_NAME = ?`, [name])
  if (table) return { type: 'table', comment: /** @type {string|null} */ (table.C) }
  const [view] = await session.rows(`SELECT VIEW_NAME FROM SYS.VIEWS WHERE ${where} VIEW_NAME = ?`, [name])
  return view ? { type: 'view', comment: null } : null
}

/** In their order. @param {Session} session @param {string} table @returns {Promise<import('../wide.js').TableColumn[]>} */
export async function readColumns (session, table) {
  const rows = await session.rows('SELECT COLUMN_NAME, DATA_TYPE_NAME, IS_NULLABLE, DEFAULT_VALUE, GENERATION_TYPE ' +
    'FROM SYS.TABLE_COLUMNS WHERE SCHEMA_NAME = CURRENT_SCHEMA AND TABLE_NAME = ? ORDER BY POSITION', [table])
  return rows.map(row => ({
    name: row.COLUMN_NAME,
    kind: row.DATA_TYPE_NAME,
    required: row.IS_NULLABLE === 'FALSE' && row.DEFAULT_VALUE === null && row.GENERATION_TYPE === null,
    computed: row.GENERATION_TYPE !== null
  }))
}
