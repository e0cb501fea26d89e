import { completeTable } from '../sql/tables.js'
import { fitTable, misfit } from '../wide.js'
import { BATCH_COLUMN, EPOCH_COLUMN, identityColumns, SEQ_COLUMN } from './dialect.js'
import { identifier, literal } from './quote.js'

/**
 * @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer
 * @typedef {import('./dialect.js').ClickhouseDialect} ClickhouseDialect
 * @typedef {import('../wide.js').WideColumn} WideColumn
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 *
 * @typedef {object} Plan  where the rows of one shape of batch go
 * @property {string} table
 * @property {string} insertSql
 * @property {PlacedColumn[]} columns
 * @property {string|null} doubt  why rows may be stored twice there, null where they are not
 *
 * @typedef {object} Found
 * @property {string} engine  empty where there is no such table
 * @property {string} engineFull
 * @property {import('../wide.js').TableColumn[]} columns
 */

/**
 * Of one CREATE or ALTER at the same time by another: TABLE_ALREADY_EXISTS, COLUMN_ALREADY_EXISTS, and what old servers report
 * instead.
 */
const ALREADY_THERE = [15, 44, 57]

/**
 * Finds the place for rows with these columns, creating what is missing.
 * @param {ClickhouseServer} server
 * @param {string} name
 * @param {WideColumn[]} wanted
 * @param {{layout: import('../../batch/layouts.js').Layout, isChosen: boolean}} options  `isChosen`: the user has named this very table
 * @returns {Promise<Plan>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareTable (server, name, wanted, { layout, isChosen }) {
  const dialect = await server.dialect()
  const { columns, found } = await completeTable(
    async () => {
      const table = await readTable(server, name)
      if (table.engine !== '' && !table.engine.endsWith('MergeTree')) {
        throw misfit(name, `its engine ${table.engine} does not keep an insert as a whole`,
          'Use a table of the engine MergeTree, or name the source or the table differently.')
      }
      // What has no columns is gone since its engine was told.
      const exists = table.engine !== '' && table.columns.length > 0
      if (exists && !isChosen && !table.columns.some(column => column.name === EPOCH_COLUMN)) {
        throw misfit(name, 'Sluice did not make it, and only the name of the source leads to it',
          `Rename the source; or set this very table, or add the column ${EPOCH_COLUMN} of type Int64 to it, if it is meant.`)
      }
      // The two are asked for one after the other: a table that another creates in between is met by a complete CREATE.
      const existing = exists ? table.columns : []
      return { found: table, exists, ...fitTable(name, [...wanted, ...identityColumns], existing, dialect) }
    },
    ({ exists, missing }) => server.command((exists ? addition : creation)(name, missing, layout, dialect)),
    ({ cause }) => ALREADY_THERE.includes(cause?.number)
  )
  return planOf(name, columns, found)
}

/** @param {ClickhouseServer} server @param {string} name @returns {Promise<Found>} */
export async function readTable (server, name) {
  const place = `database = currentDatabase() AND`
  const tables = await server.query(`SELECT engine, engine_full FROM system.tables WHERE ${place} name = ${literal(name)}`)
  const columns = await server.query(`SELECT name, type, default_kind FROM system.columns WHERE ${place} table = ${literal(name)}`)
  const [engine, engineFull] = tables[0] ?? ['', '']
  return {
    engine,
    engineFull,
    columns: columns.map(([column, type, defaultKind]) => ({
      name: column,
      kind: type.startsWith('DateTime64(9') ? 'DateTime64(9)' : type,
      shown: type,
      computed: defaultKind === 'MATERIALIZED' || defaultKind === 'ALIAS'
    }))
  }
}

/** @param {string} name @param {PlacedColumn[]} columns @param {Found} found @returns {Plan} */
function planOf (name, columns, { engine, engineFull }) {
  return {
    table: name,
    columns,
    insertSql: `INSERT INTO ${identifier(name)} (${columns.map(column => identifier(column.name)).join(', ')}) FORMAT Native`,
    doubt: engine !== 'MergeTree'
      ? `its engine is ${engine}, not MergeTree`
      : hasPartitions(engineFull) ? 'it has partitions, and a batch may be in several of them' : null
  }
}

/** @param {string} engine  with its settings; old servers name the partitions' key among them */
function hasPartitions (engine) {
  return /^MergeTree\(.*,/.test(engine) || engine.includes('PARTITION BY')
}

/**
 * @param {string} name
 * @param {WideColumn[]} columns
 * @param {import('../../batch/layouts.js').Layout} layout
 * @param {ClickhouseDialect} dialect
 */
function creation (name, columns, layout, dialect) {
  const declarations = columns.map(column => declaration(column, layout, dialect))
  // It shows which parts of a large table hold batches that are not in the commit records yet.
  if (!dialect.plain) declarations.push(`INDEX sluice_batches (${EPOCH_COLUMN}, ${SEQ_COLUMN}) TYPE minmax`)
  const order = columns.filter(column => isKey(column, layout) || column.origin === 'time')
    .map(column => ({ column, rank: column.origin === 'time' ? 2 : column.origin === 'source' ? 0 : 1 }))
  const names = order.sort((a, b) => a.rank - b.rank).map(({ column }) => identifier(column.name))
  const settings = [dialect.durable, dialect.deduplicating].filter(setting => setting !== '').join(', ')
  const engine = `MergeTree ORDER BY (${names.join(', ')})${settings && ` SETTINGS ${settings}`}`
  return `CREATE TABLE ${identifier(name)} (${declarations.join(', ')}) ENGINE = ${engine}`
}

/**
 * @param {string} name
 * @param {WideColumn[]} columns
 * @param {import('../../batch/layouts.js').Layout} layout
 * @param {ClickhouseDialect} dialect
 */
function addition (name, columns, layout, dialect) {
  return `ALTER TABLE ${identifier(name)} ${columns.map(column => `ADD COLUMN ${declaration(column, layout, dialect)}`).join(', ')}`
}

/** @param {WideColumn} column @param {import('../../batch/layouts.js').Layout} layout @param {ClickhouseDialect} dialect */
function declaration (column, layout, dialect) {
  const { name, type, origin } = column
  const quoted = identifier(name)
  if (isIdentity(column)) return `${quoted} ${name === BATCH_COLUMN ? dialect.columnTypes[type] : 'Int64'}`
  if (origin === 'time' && type === 'time') return `${quoted} ${dialect.columnTypes.time}${dialect.timeCodec}`
  if (isKey(column, layout)) return `${quoted} ${dialect.plain ? 'String' : 'LowCardinality(String)'}`
  if (origin === 'tag' && !dialect.plain) return `${quoted} LowCardinality(Nullable(String))`
  return `${quoted} ${dialect.columnTypes[type]}`
}

/**
 * Whether a table is sorted by the column, before time.
 * @param {WideColumn} column
 * @param {import('../../batch/layouts.js').Layout} layout
 */
function isKey (column, layout) {
  return !isIdentity(column) &&
    (column.origin === 'source' || (layout === 'narrow' && column.origin === 'field' && column.name === 'sensor'))
}

/** @param {WideColumn} column */
function isIdentity ({ name }) {
  return identityColumns.some(column => column.name === name)
}
