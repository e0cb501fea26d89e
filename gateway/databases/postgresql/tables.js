import { hash } from 'node:crypto'
import { quote } from '../names.js'
import { patiently } from '../connecting/limits.js'
import { checkOwner, completeTable, declarationIn, declarations, isOwned, OWNED } from '../sql/tables.js'
import { wantedOfOthers } from '../sql/tables-of-others.js'
import { UPSERT } from '../upsert/layout.js'
import { insertNewest, keyOf, names, noKey } from '../upsert/sql.js'
import { fitTable, misfit } from '../wide.js'
import { dialect, microseconds } from './dialect.js'
import { socketOf } from './connection.js'
import { dropChunks, makeHypertable } from './timescale.js'
import { inTransaction, LOCKS } from './transaction.js'

const declaration = declarationIn(dialect)

/**
 * @typedef {import('pg').ClientBase} Client
 * @typedef {import('../wide.js').WideColumn} WideColumn
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {{copySql: string, columns: PlacedColumn[], width?: number}} Plan  where the rows of one shape of batch go; `copySql` has one
 *   COPY from the client, and perhaps statements around it
 * @typedef {{schema: string, name: string}} TableName
 * @typedef {import('../../batch/layouts.js').Layout|'upsert'} Layout
 * @typedef {{layout: Layout, index: 'btree'|'brin'|'none', keyFields: string[]}} TableOptions
 * @typedef {TableName & TableOptions & import('./timescale.js').HypertableOptions} Table
 */

const READ_TABLE = `
  SELECT c.relkind, obj_description(c.oid, 'pg_class') AS comment,
    a.attname AS name, t.typname AS kind, format_type(a.atttypid, a.atttypmod) AS shown,
    a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS required, a.attgenerated <> '' AS computed
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_type t ON t.oid = a.atttypid
  WHERE n.nspname = $1 AND c.relname = $2
  ORDER BY a.attnum`

/** A unique index on exactly these columns. */
const HAS_KEY = `
  SELECT 1 FROM pg_index i WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
    AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text COLLATE "C") FROM pg_attribute a
      WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) = $2::text[]`

/** What can be written to, of pg_class.relkind. */
const WRITABLE = ['r', 'p', 'f']

/**
 * Finds the place for rows with these columns, creating what is missing in one transaction.
 * Processes that create tables do so one at a time.
 * @param {Client} client
 * @param {Table & {source: string}} table  `source`: of the rows
 * @param {WideColumn[]} wanted
 * @param {boolean} withSource  several sources share the table
 * @returns {Promise<Plan>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareTable (client, table, wanted, withSource) {
  const read = () => readTable(client, table, wanted, withSource)
  const { columns, rest } = await completeTable(read, () => inTransaction(client, LOCKS.makingTables, async () => {
    const { exists, missing } = await read()
    if (!exists) await createTable(client, table, missing)
    else if (missing.length > 0) await client.query(addColumns(table, missing))
  }))
  if (table.layout === UPSERT) return upsertPlan(client, table, columns, rest)
  return { columns, copySql: copyInto(qualified(table), columns) }
}

/**
 * Rows are copied to where they wait, which keeps COPY's speed, and upserted from there by the server.
 * @param {Client} client
 * @param {Table} table
 * @param {PlacedColumn[]} columns
 * @param {{name: string}[]} rest
 * @returns {Promise<Plan>}
 */
async function upsertPlan (client, table, columns, rest) {
  const name = qualified(table)
  const key = keyOf(columns)
  const { rows } = await client.query(HAS_KEY, [name, key.map(column => column.name).sort()])
  if (rows.length === 0) throw noKey(table.name, key)
  const shape = hash('sha256', JSON.stringify([name, columns.map(column => [column.name, column.kind])])).slice(0, 16)
  const waiting = `pg_temp.sluice_waiting_${shape}`
  const made = `CREATE TEMP TABLE IF NOT EXISTS ${waiting} ON COMMIT DELETE ROWS AS SELECT ${names(columns)} FROM ${name} WITH NO DATA`
  const copySql = [made, copyInto(waiting, columns), insertNewest(name, waiting, columns, rest)].join('; ')
  return { columns, copySql, width: columns.length + rest.length }
}

/** @param {string} table @param {PlacedColumn[]} columns */
function copyInto (table, columns) {
  return `COPY ${table} (${names(columns)}) FROM STDIN (FORMAT binary)`
}

/** @param {Client} client @param {Table & {source: string}} table @param {WideColumn[]} wanted @param {boolean} withSource */
async function readTable (client, table, wanted, withSource) {
  const { schema, name } = table
  const rows = await lookUp(client, schema, name)
  if (rows.length > 0 && !WRITABLE.includes(rows[0].relkind)) {
    throw misfit(
      name,
      'it is a view, an index or another thing that rows cannot be copied into',
      'Name the source or the table differently.'
    )
  }
  if (rows.length > 0) checkOwner(name, withSource, rows[0].comment)
  const existing = rows.filter(row => row.name !== null)
  const own = rows.length === 0 || isOwned(rows[0].comment) ? wanted : wantedOfOthers(table, wanted, existing, dialect)
  return { exists: rows.length > 0, ...fitTable(name, own, existing, dialect) }
}

/**
 * The table in which `prepareTable` finds the place.
 * @param {Client} client
 * @param {Table} options
 * @returns {Promise<import('../recorded/aging.js').AgingTable|null>}
 */
export async function agingTable (client, { hypertable, ...name }) {
  const [found] = await lookUp(client, name.schema, name.name)
  if (!found) return null
  const table = qualified(name)
  return {
    isOwned: isOwned(found.comment),
    async span () {
      const ns = (/** @type {string} */ time) => `(extract(epoch FROM ${time}) * 1000000)::int8 * 1000`
      const { rows } = await patiently(socketOf(client), () =>
        client.query(`SELECT ${ns('min("time")')} AS oldest, ${ns('max("time")')} AS newest FROM ${table}`))
      return rows[0].oldest === null ? null : { oldest: BigInt(rows[0].oldest), newest: BigInt(rows[0].newest) }
    },
    async removeBefore (before, maxRows) {
      const limit = microseconds(before)
      if (hypertable) return patiently(socketOf(client), () => dropChunks(client, table, limit))
      // A row that is changed meanwhile is in another place, and no longer old.
      const old = `SELECT ctid FROM ${table} WHERE "time" < $1 LIMIT ${maxRows}`
      const { rowCount } = await patiently(socketOf(client), () =>
        client.query(`DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${old})) AND "time" < $1`, [limit]))
      return rowCount ?? 0
    }
  }
}

/** @param {Client} client @param {string} schema @param {string} name @returns {Promise<any[]>} a row for each column */
async function lookUp (client, schema, name) {
  return (await client.query({ name: 'sluice_read_table', text: READ_TABLE, values: [schema, name] })).rows
}

/** @param {Table} table @param {WideColumn[]} columns */
function addColumns (table, columns) {
  return `ALTER TABLE ${qualified(table)} ${columns.map(column => `ADD COLUMN ${declaration(column)}`).join(', ')}`
}

/** @param {Client} client @param {Table} table @param {WideColumn[]} columns */
async function createTable (client, table, columns) {
  const { index, hypertable } = table
  const name = qualified(table)
  await client.query(`CREATE TABLE ${name} (${declarations(columns, declaration)}); COMMENT ON TABLE ${name} IS '${OWNED}'`)
  if (table.layout === UPSERT) return
  const keys = keysOf(table, columns)
  // A block range index shows which pages hold a time; every page has rows of all sensors.
  const indexed = index === 'btree' ? ['"time"', ...keys] : ['"time"']
  if (index !== 'none') await client.query(`CREATE INDEX ON ${name} USING ${index} (${indexed.join(', ')})`)
  if (hypertable) await makeHypertable(client, name, keys, table)
}

/** The columns, quoted, that tell what a row is about. @param {Table} table @param {WideColumn[]} columns */
function keysOf ({ layout, keyFields }, columns) {
  if (layout === 'narrow') return ['"sensor"']
  if (layout !== 'wide') return []
  return keyFields.filter(key => columns.some(({ name, origin }) => name === key && origin !== 'time')).map(quote)
}

/** @param {TableName} table */
function qualified ({ schema, name }) {
  return `${quote(schema)}.${quote(name)}`
}
