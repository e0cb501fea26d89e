import { quote } from '../names.js'
import { checkOwner, completeTable, declarationIn, declarations, isOwned, OWNED, physicalName } from '../sql/tables.js'
import { wantedOfOthers } from '../sql/tables-of-others.js'
import { UPSERT } from '../upsert/layout.js'
import { keyOf, noKey } from '../upsert/sql.js'
import { fitTable, misfit } from '../wide.js'
import { dialect } from './dialect.js'
import { insertStatement } from './rows.js'

const declaration = declarationIn(dialect)

/** Since 1970: of 1973 and later. */
const NANOSECONDS = /^\d{18,}$/

/**
 * @typedef {import('node:sqlite').DatabaseSync} DatabaseSync
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {import('../wide.js').TableColumn} TableColumn
 * @typedef {{table: string, columns: PlacedColumn[], rest?: TableColumn[], width?: number}} Plan  where the rows of one shape of batch go
 */

/**
 * Finds the place for rows with these columns, creating what is missing in one transaction.
 * @param {DatabaseSync} database
 * @param {string} name  of the table
 * @param {import('../wide.js').WideColumn[]} wanted
 * @param {boolean} withSource  several sources share the table
 * @param {string} layout
 * @returns {Promise<Plan>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareTable (database, name, wanted, withSource, layout) {
  const { table, columns, rest } = await completeTable(async () => readTable(database, name, wanted, withSource), async () => {
    database.exec('BEGIN IMMEDIATE')
    const { table: its, exists, missing } = readTable(database, name, wanted, withSource)
    if (!exists) createTable(database, its, missing, layout)
    else for (const column of missing) database.exec(`ALTER TABLE ${quote(its)} ADD COLUMN ${declaration(column)}`)
    database.exec('COMMIT')
  })
  const plan = { table, columns, rest }
  if (layout !== UPSERT) return plan
  checkUpsert(database, plan)
  return { ...plan, width: columns.length + rest.length }
}

/** @param {DatabaseSync} database @param {Plan} plan */
function checkUpsert (database, plan) {
  try {
    database.prepare(insertStatement(plan, 1))
  } catch (error) {
    if (!String(error).includes('ON CONFLICT')) throw error
    throw noKey(plan.table, keyOf(plan.columns))
  }
}

/** @param {DatabaseSync} database @param {string} name @param {import('../wide.js').WideColumn[]} wanted @param {boolean} withSource */
function readTable (database, name, wanted, withSource) {
  if (dialect.fold(name).startsWith('sqlite_')) {
    throw misfit(name, 'SQLite keeps names that start with sqlite_ for itself', 'Name the source or the table differently.')
  }
  const alike = alikeIn(database, name)
  const table = physicalName(name, alike)
  const found = alike.find(each => each.name === table)
  if (found) checkOwner(name, withSource, commentOf(found))
  const rows = database.prepare('SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)').all(table)
  const columns = rows.map(tableColumn)
  const own = found && !isOwned(commentOf(found)) ? wantedBeside(database, table, wanted, columns) : wanted
  return { table, exists: columns.length > 0, ...fitTable(name, own, columns, dialect) }
}

/**
 * In a table that others made, whose times may be in another unit: columns of SQLite do not tell.
 * @param {DatabaseSync} database @param {string} table @param {import('../wide.js').WideColumn[]} wanted @param {TableColumn[]} columns
 */
function wantedBeside (database, table, wanted, columns) {
  if (columns.some(({ name }) => dialect.fold(name) === 'time')) {
    const [first] = database.prepare(`SELECT CAST("time" AS TEXT) AS time FROM ${quote(table)} LIMIT 1`).all()
    if (first && typeof first.time === 'string' && !NANOSECONDS.test(first.time)) {
      throw misfit(table, `its column "time" has times such as ${JSON.stringify(first.time)}, which are not nanoseconds since 1970`,
        'Set another table, which the sink creates, and copy the rows of this one.')
    }
  }
  return wantedOfOthers({ name: table, source: table }, wanted, columns, dialect)
}

/**
 * The table in which `prepareTable` finds the place.
 * @param {DatabaseSync} database
 * @param {string} name
 * @returns {import('../recorded/aging.js').AgingTable|null}
 */
export function agingTable (database, name) {
  const its = physicalName(name, alikeIn(database, name))
  const found = alikeIn(database, its).find(each => each.name === its)
  if (!found) return null
  const table = quote(its)
  return {
    isOwned: isOwned(commentOf(found)),
    async span () {
      // Each of its own: of both at once, SQLite looks at every row.
      const read = database.prepare(`SELECT (SELECT min("time") FROM ${table}) AS oldest, (SELECT max("time") FROM ${table}) AS newest`)
      read.setReadBigInts(true)
      const { oldest, newest } = /** @type {any} */ (read.get())
      return oldest === null ? null : { oldest, newest }
    },
    async removeBefore (before, maxRows) {
      const old = `SELECT rowid FROM ${table} WHERE "time" < ? ORDER BY "time" LIMIT ?`
      return Number(database.prepare(`DELETE FROM ${table} WHERE rowid IN (${old})`).run(before, maxRows).changes)
    }
  }
}

/** What has the name, but for the case of its letters. @param {DatabaseSync} database @param {string} name @returns {any[]} */
function alikeIn (database, name) {
  return database.prepare('SELECT name, type, sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE').all(name)
}

/** @param {{sql: string}} found */
function commentOf ({ sql }) {
  return /\/\*.*\*\//s.exec(sql)?.[0] ?? null
}

/** @param {DatabaseSync} database @param {string} table @param {import('../wide.js').WideColumn[]} columns @param {string} layout */
function createTable (database, table, columns, layout) {
  // SQLite keeps the text, and comments only within it.
  database.exec(`CREATE TABLE ${quote(table)} (/* ${OWNED} */ ${declarations(columns, declaration)})`)
  if (layout === UPSERT) return
  const indexed = layout === 'narrow' ? '"time", "sensor"' : '"time"'
  database.exec(`CREATE INDEX ${quote(`time of ${table}`)} ON ${quote(table)} (${indexed})`)
}

/** @param {any} row  of pragma_table_xinfo @returns {TableColumn} */
function tableColumn ({ name, type, notnull, dflt_value: byDefault, pk, hidden }) {
  const kind = affinity(type)
  const rowid = pk === 1 && type.toUpperCase() === 'INTEGER'
  return { name, kind, shown: type || 'no declared type', required: notnull === 1 && byDefault === null && !rowid, computed: hidden !== 0 }
}

/** The affinity SQLite gives a declared type (its documentation, "Datatypes", 3.1). @param {string} declared */
function affinity (declared) {
  const type = declared.toUpperCase()
  if (type.includes('INT')) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT'
  if (type.includes('BLOB')) return 'BLOB'
  if (type === '') return 'none'
  if (/REAL|FLOA|DOUB/.test(type)) return 'REAL'
  return 'NUMERIC'
}
