import { patiently } from '../connecting/limits.js'
import { caseMarked } from '../names.js'
import { checkOwner, completeTable, isOwned, OWNED } from '../sql/tables.js'
import { wantedOfOthers } from '../sql/tables-of-others.js'
import { keyOf, primaryKey } from '../upsert/sql.js'
import { fitTable, misfit } from '../wide.js'
import { socketOf } from './connection.js'
import { checkIdentifier, dialect, quote, TIMES } from './dialect.js'
import { checkKey, keyCollation } from './upsert.js'

/**
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./session.js').Facts} Facts
 * @typedef {import('./layouts.js').Layout} Layout
 * @typedef {import('../wide.js').WideColumn} WideColumn
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {import('../wide.js').TableColumn} TableColumn
 * @typedef {{table: string, columns: PlacedColumn[], rest?: TableColumn[], width?: number}} Plan  where the rows of one shape of batch go
 */

const READ_TABLE = `
  SELECT t.TABLE_NAME AS name, t.TABLE_TYPE AS type, t.ENGINE AS engine, e.TRANSACTIONS AS transactions,
    t.TABLE_COMMENT AS comment
  FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
  WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = ?`

const READ_COLUMNS = `
  SELECT TABLE_NAME AS tableName, COLUMN_NAME AS name, DATA_TYPE AS kind, COLUMN_TYPE AS shown, IS_NULLABLE AS nullable,
    COLUMN_DEFAULT AS fallback, EXTRA AS extra, COALESCE(GENERATION_EXPRESSION, '') AS \`generated\`
  FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?
  ORDER BY ORDINAL_POSITION`

const WRITABLE = ['BASE TABLE', 'SYSTEM VERSIONED']

/** The times of others may be rougher: the server cuts them. */
const othersDialect = { ...dialect, accepts: { ...dialect.accepts, time: TIMES } }

/** Errors of the server where another has created the same table or column meanwhile. */
const ALREADY_EXISTS = [1050, 1060]

const COLLATION = 'utf8mb4_bin'

/** A number for each row, which `SELECT *` does not show. */
const ROW_NUMBER = '`sluice_row` BIGINT UNSIGNED NOT NULL DEFAULT (uuid_short()) INVISIBLE'

/**
 * Finds the place for rows with these columns, creating what is missing.
 * @param {Connection} connection
 * @param {Facts} facts
 * @param {{name: string, source: string}} table  `source`: of the rows
 * @param {boolean} withSource  several sources share the table
 * @param {Layout} layout
 * @param {WideColumn[]} wanted
 * @returns {Promise<Plan>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareTable (connection, facts, { name, source }, withSource, layout, wanted) {
  const { columns, rest } = await completeTable(
    () => readTable(connection, facts, { name, source }, withSource, wanted),
    async ({ exists, missing }) => {
      // Old servers copy the table for it.
      if (exists) return patiently(socketOf(connection), () => connection.query(addColumns(name, layout, missing)))
      const collation = missing.some(({ isKey }) => isKey) ? await keyCollation(connection) : COLLATION
      return connection.query(createTable(name, layout, missing, facts, collation))
    },
    ({ errno }) => ALREADY_EXISTS.includes(errno)
  )
  const plan = { table: name, columns, rest }
  const key = keyOf(columns)
  if (key.length === 0) return plan
  await checkKey(connection, name, key)
  return { ...plan, width: columns.length + rest.length }
}

/**
 * The table's own name. Where the server does not tell names apart that differ only by case, those of sources with upper-case letters get a
 * mark.
 * @param {string} name
 * @param {boolean} perSource  a source gave the name
 * @param {Facts} facts
 */
export function tableName (name, perSource, { ignoresTableCase }) {
  const isMarked = ignoresTableCase && perSource && /[A-Z]/.test(name)
  return checkIdentifier(isMarked ? caseMarked(name).toLowerCase() : name, 'table')
}

/**
 * The table in which `prepareTable` finds the place.
 * @param {Connection} connection
 * @param {Facts} facts
 * @param {string} name  of the table
 * @param {Layout} layout
 * @returns {Promise<import('../recorded/aging.js').AgingTable|null>}
 */
export async function agingTable (connection, facts, name, { time: { column, ns } }) {
  const { table } = await lookUp(connection, facts, name)
  if (!table) return null
  const [from, time] = [quote(name), quote(column)]
  return {
    isOwned: isOwned(table.comment),
    async span () {
      const [[{ oldest, newest }]] = /** @type {[any[], any]} */ (
        await patiently(socketOf(connection), () => connection.query(`SELECT MIN(${time}) AS oldest, MAX(${time}) AS newest FROM ${from}`))
      )
      return oldest === null ? null : { oldest: BigInt(oldest) * ns, newest: BigInt(newest) * ns }
    },
    async removeBefore (before, maxRows) {
      const [{ affectedRows }] = /** @type {[import('mysql2').ResultSetHeader, any]} */ (
        await patiently(socketOf(connection), () =>
          connection.query(`DELETE FROM ${from} WHERE ${time} < ${before / ns} ORDER BY ${time} LIMIT ${maxRows}`))
      )
      return affectedRows
    }
  }
}

/** What there is of that name, and which names are the same. @param {Connection} connection @param {Facts} facts @param {string} name */
async function lookUp (connection, { ignoresTableCase }, name) {
  const [tables] = /** @type {[any[], any]} */ (await connection.execute(READ_TABLE, [name]))
  // In these tables servers may compare names less exactly than elsewhere.
  const isIt = (/** @type {string} */ other) => other === name || (ignoresTableCase && dialect.fold(other) === dialect.fold(name))
  return { table: tables.find(each => isIt(each.name)), isIt }
}

/**
 * @param {Connection} connection
 * @param {Facts} facts
 * @param {{name: string, source: string}} its
 * @param {boolean} withSource
 * @param {WideColumn[]} wanted
 */
async function readTable (connection, facts, its, withSource, wanted) {
  const { name } = its
  const { table, isIt } = await lookUp(connection, facts, name)
  if (table && !WRITABLE.includes(table.type)) {
    throw misfit(name, 'it is a view or another thing that rows cannot be loaded into', 'Name the source or the table differently.')
  }
  if (table) checkOwner(name, withSource, table.comment)
  if (table && table.transactions !== 'YES') {
    throw misfit(
      name,
      `its engine ${table.engine} has no transactions, without which nothing is stored exactly once`,
      'Change its engine to InnoDB, or set another table.'
    )
  }
  const [rows] = table ? /** @type {[any[], any]} */ (await connection.execute(READ_COLUMNS, [name])) : [[]]
  const existing = rows.filter(({ tableName: of }) => isIt(of)).map(tableColumn)
  const computesTime = existing.some(({ name: column, computed }) => computed && dialect.fold(column) === 'time')
  const given = computesTime ? wanted.filter(({ type }) => type !== 'time') : wanted
  const fit = !table || isOwned(table.comment)
    ? fitTable(name, given, existing, dialect)
    : fitTable(name, wantedOfOthers(its, given, existing, dialect), existing, othersDialect)
  for (const column of fit.missing) checkIdentifier(column.name, 'column')
  return { exists: table !== undefined, ...fit }
}

/** @param {string} table @param {Layout} layout @param {WideColumn[]} columns */
function addColumns (table, layout, columns) {
  // A time is computed from a column that must be there before.
  const inOrder = columns.toSorted((a, b) => Number(a.type === 'time') - Number(b.type === 'time'))
  return `ALTER TABLE ${quote(table)} ${inOrder.map(column => `ADD COLUMN ${declaration(column, layout)}`).join(', ')}`
}

/** @param {string} table @param {Layout} layout @param {WideColumn[]} columns @param {Facts} facts @param {string} collation */
function createTable (table, layout, columns, { hasRowKeys }, collation) {
  const { key, ordersRows } = layout
  const declarations = columns.map(column => {
    const always = column.type === 'time_ns' || column.origin === 'source' || column.isKey
    return declaration(column, layout) + (always || key.includes(column.name) ? ' NOT NULL' : '')
  })
  const keyColumns = key.map(quote).join(', ')
  const own = primaryKey(columns, names => names.map(({ name }) => quote(name)).join(', '))
  const numbered = ordersRows && hasRowKeys ? [ROW_NUMBER, `PRIMARY KEY (${keyColumns}, \`sluice_row\`)`] : [`KEY (${keyColumns})`]
  const order = own === '' ? numbered : [own.slice(2)]
  const settings = `ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=${collation} COMMENT='${OWNED}'`
  return `CREATE TABLE ${quote(table)} (${[...declarations, ...order].join(', ')}) ${settings}`
}

/** @param {WideColumn} column @param {Layout} layout */
function declaration ({ name, type, origin, isKey }, { declarations }) {
  if (isKey && type === 'string') return `${quote(name)} VARCHAR(255)`
  const isDeclared = origin !== 'tag' && Object.hasOwn(declarations, name)
  return `${quote(name)} ${isDeclared ? declarations[name] : dialect.columnTypes[type]}`
}

/** @param {any} row  of information_schema.COLUMNS @returns {import('../wide.js').TableColumn} */
function tableColumn ({ name, kind, shown, nullable, fallback, extra, generated }) {
  const fraction = /^(?:datetime|timestamp)\(\d\)$/.exec(shown)?.[0]
  const computed = generated !== ''
  return {
    name,
    kind: fraction ?? (/\bunsigned\b/.test(shown) ? `${kind} unsigned` : kind),
    shown: shown.replace(/^int\b(\(\d+\))?/, 'integer'),
    required: nullable === 'NO' && fallback === null && !computed && !/auto_increment|DEFAULT_GENERATED/i.test(extra),
    computed
  }
}
