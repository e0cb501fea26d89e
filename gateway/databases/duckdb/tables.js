import { quote } from '../names.js'
import { fileDialect } from '../sql/file-dialect.js'
import { checkOwner, completeTable, declarationIn, declarations, isOwned, OWNED, physicalName } from '../sql/tables.js'
import { UPSERT } from '../upsert/layout.js'
import { insertNewest, keyOf, noKey } from '../upsert/sql.js'
import { fitTable } from '../wide.js'

/**
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {{table: string, columns: PlacedColumn[], upsert?: string, width?: number}} Plan  where the rows of one shape of batch go;
 *   `upsert`: by this statement, from the table WAITING
 */

/** Where rows wait for an INSERT: an appender fills all columns, and replaces no row. */
export const WAITING = 'sluice rows'

const LONG = ['BIGINT', 'HUGEINT']
const WIDER = ['INTEGER', ...LONG, 'DOUBLE']

/** @type {import('../wide.js').Dialect & import('../names.js').NameRules} */
export const dialect = {
  ...fileDialect,
  product: 'DuckDB',
  columnTypes: {
    time: 'TIMESTAMP_NS', time_ns: 'BIGINT', float64: 'DOUBLE', float32: 'FLOAT', int64: 'BIGINT', int32: 'INTEGER', int16: 'SMALLINT',
    uint16: 'USMALLINT', bool: 'BOOLEAN', string: 'VARCHAR', json: 'JSON', bytes: 'BLOB'
  },
  accepts: {
    time: ['TIMESTAMP_NS', 'BIGINT'], time_ns: ['BIGINT'], float64: ['DOUBLE'], float32: ['FLOAT', 'DOUBLE'], int64: LONG, int32: WIDER,
    int16: ['SMALLINT', 'FLOAT', ...WIDER], uint16: ['USMALLINT', 'FLOAT', ...WIDER], bool: ['BOOLEAN'], string: ['VARCHAR'],
    json: ['JSON', 'VARCHAR'], bytes: ['BLOB']
  }
}

/**
 * Finds the place for rows with these columns, creating what is missing in one transaction.
 * @param {import('./instance.js').Session} session
 * @param {string} name  of the table
 * @param {import('../wide.js').WideColumn[]} wanted
 * @param {boolean} withSource  several sources share the table
 * @param {string} layout
 * @returns {Promise<Plan>} its columns in the table's order
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareTable (session, name, wanted, withSource, layout) {
  const declaration = declarationIn(dialect)
  const { table, existing, columns, rest } = await completeTable(async () => {
    const alike = await alikeIn(session, name)
    const its = physicalName(name, alike)
    const known = alike.find(each => each.name === its)
    if (known) checkOwner(name, withSource, known.comment)
    const found = await readColumns(session, its)
    return { table: its, existing: found, exists: found.length > 0, ...fitTable(name, wanted, found, dialect) }
  }, async ({ table: its, exists, missing }) => {
    const added = missing.map(column => `ALTER TABLE ${quote(its)} ADD COLUMN ${declaration(column)}`)
    const created = [
      `CREATE TABLE ${quote(its)} (${declarations(missing, declaration)})`,
      `COMMENT ON TABLE ${quote(its)} IS '${OWNED}'`
    ]
    await session.run(['BEGIN', ...exists ? added : created, 'COMMIT'].join('; '))
  })
  const plan = { table, columns: existing.flatMap(({ name: its }) => columns.find(column => column.name === its) ?? []) }
  if (layout !== UPSERT) return plan
  const key = keyOf(plan.columns)
  const unique = await session.run(`SELECT constraint_column_names AS names FROM duckdb_constraints() WHERE schema_name = current_schema()
    AND table_name = $table AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')`, { table })
  const sorted = (/** @type {string[]} */ names) => JSON.stringify(names.toSorted())
  const isKey = (/** @type {any} */ { names }) => sorted(names.items) === sorted(key.map(column => column.name))
  if (!unique.some(isKey)) throw noKey(table, key)
  return { ...plan, upsert: insertNewest(quote(table), quote(WAITING), plan.columns, rest), width: columns.length + rest.length }
}

/**
 * The table in which `prepareTable` finds the place.
 * @param {import('./instance.js').Session} session
 * @param {string} name
 * @returns {Promise<import('../recorded/aging.js').AgingTable|null>}
 */
export async function agingTable (session, name) {
  const its = physicalName(name, await alikeIn(session, name))
  const found = (await alikeIn(session, its)).find(each => each.name === its)
  if (!found) return null
  const table = quote(its)
  const time = (await readColumns(session, its)).find(column => column.name === 'time')
  const isTimestamp = time?.kind === 'TIMESTAMP_NS'
  const ns = (/** @type {string} */ value) => isTimestamp ? `epoch_ns(${value})` : value
  return {
    isOwned: isOwned(found.comment),
    async span () {
      const [{ oldest, newest }] = await session.run(`SELECT ${ns('min("time")')} AS oldest, ${ns('max("time")')} AS newest FROM ${table}`)
      return oldest === null ? null : { oldest, newest }
    },
    async removeBefore (before, maxRows) {
      const limit = isTimestamp ? `make_timestamp_ns(${before})` : before
      const old = `FROM ${table} WHERE "time" < ${limit}`
      const [{ last }] = await session.run(`SELECT max(rowid) AS last FROM (SELECT rowid ${old} LIMIT ${maxRows})`)
      if (last === null) return 0
      // They are the first of the table: of a list of them, DuckDB would look through all of it.
      const [{ Count: rows }] = await session.run(`DELETE ${old} AND rowid <= ${last}`)
      return Number(rows)
    }
  }
}

/** What has the name, but for the case of its letters. @param {import('./instance.js').Session} session @param {string} name */
function alikeIn ({ run }, name) {
  return run(`SELECT table_name AS name, if(table_type = 'VIEW', 'view', 'table') AS type, table_comment AS comment
    FROM information_schema.tables WHERE table_schema = current_schema() AND lower(table_name) = lower($name)`, { name })
}

/** Its columns, in their order. @param {import('./instance.js').Session} session @param {string} table */
export function readColumns ({ run }, table) {
  // Only its SQL tells that a column is computed.
  return run(`SELECT column_name AS name, data_type AS kind, is_nullable = 'NO' AND column_default IS NULL AS required, regexp_matches(
    sql, concat('[(,] ?"?', regexp_escape(replace(name, '"', '""')), '"? ', regexp_escape(kind), ' GENERATED ')) AS computed
    FROM information_schema.columns LEFT JOIN duckdb_tables() AS tables ON tables.table_name = $table AND schema_name = table_schema
    WHERE table_schema = current_schema() AND columns.table_name = $table ORDER BY ordinal_position`, { table })
}
