import { COMMITS_TABLE } from '../names.js'
import { columnsOf, completeTable } from '../sql/tables.js'
import { ORIGIN, UPSERT } from '../upsert/layout.js'
import { fitTable, misfit } from '../wide.js'
import { dialect, kinds, tableName } from './dialect.js'

/**
 * Tables of rows, of one column family. What HBase does not know of a table, its layout and the kinds of its columns, is a row of the table
 * of commit records.
 *
 * @typedef {import('./connection.js').HbaseServer} HbaseServer
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {{name: string, kind: string}} Column
 * @typedef {{table: string, layout: string, key: string[], columns: Column[]}} TableFacts  `key` of the layout upsert, in its order
 * @typedef {{table: string, columns: PlacedColumn[], key: string[], isNarrow: boolean}} Plan
 */

export const FAMILY = 'd:'
const DAY_SECONDS = 86_400
const FOREVER = '2147483647'

/** The cell of a table's layout and key; those of its columns are called like them, in the family c. */
const LAYOUT = Buffer.from('r:layout')

/** @param {string} table */
const factsKey = table => `c/${table}`

/**
 * @param {HbaseServer} server
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @returns {Promise<TableFacts|null>} null where nothing is known of it
 */
export async function tableFacts (server, name, signal) {
  const table = tableName(name)
  const key = factsKey(table)
  const [row] = await server.rows(COMMITS_TABLE, { from: key, to: `${key}\0` }, signal).catch(async error => {
    if (await server.schemaOf(COMMITS_TABLE, signal) !== null) throw error
    return []
  })
  const layout = row?.cells.find(({ family }) => family === 'r')
  if (!layout) return null
  const columns = row.cells.filter(({ family }) => family === 'c').map(({ column, value }) => ({ name: column, kind: value.toString() }))
  return { table, columns, ...JSON.parse(layout.value.toString()) }
}

/**
 * @param {HbaseServer} server
 * @param {{name: string, arranged: import('../../batch/batch.js').Batch, withSource: boolean}} wanted
 * @param {{layout: string, key: string[], keepDays: number}} options  of the sink
 * @returns {Promise<Plan>}
 */
export async function prepareTable (server, { name, arranged, withSource }, options) {
  const table = tableName(name)
  const isUpsert = options.layout === UPSERT
  const wanted = columnsOf(arranged, dialect, withSource, options)
  const key = wanted.filter(({ isKey, name: column }) => isKey && column !== ORIGIN).map(({ name: column }) => column).sort()
  await prepareFamily(server, name, table, isUpsert ? 0 : Math.ceil(options.keepDays * DAY_SECONDS))
  const facts = Buffer.from(factsKey(table))
  const read = async () => {
    const found = await tableFacts(server, name) ?? { table, layout: options.layout, key, columns: [] }
    if (found.layout !== options.layout || String(found.key) !== String(key)) {
      const what = isUpsert ? `its rows are not told apart by ${[...key, ORIGIN].join(', ')}` : `it is of the layout ${found.layout}`
      throw misfit(name, what, 'Set another table: each layout and each key needs one of its own.')
    }
    return { exists: true, ...found, ...fitTable(name, wanted, found.columns, dialect) }
  }
  const found = await completeTable(read, async ({ missing }) => {
    await server.putIfMissing(COMMITS_TABLE, facts, LAYOUT, Buffer.from(JSON.stringify({ layout: options.layout, key })))
    for (const column of missing) {
      await server.putIfMissing(COMMITS_TABLE, facts, Buffer.from(`c:${column.name}`), Buffer.from(dialect.columnTypes[column.type]))
    }
  })
  return { table, columns: found.columns, key, isNarrow: options.layout === 'narrow' }
}

/**
 * Creates the table, or has it keep its rows as long as is set.
 * @param {HbaseServer} server @param {string} name @param {string} table @param {number} keptSeconds
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
async function prepareFamily (server, name, table, keptSeconds) {
  const TTL = keptSeconds === 0 ? FOREVER : String(keptSeconds)
  await server.shape(table, found => {
    // Neighbours have most of their keys in common.
    if (!found) return [{ name: 'd', VERSIONS: '1', DATA_BLOCK_ENCODING: 'FAST_DIFF', TTL }]
    const [family, ...others] = found.ColumnSchema
    if (family.name !== 'd' || others.length > 0) {
      throw misfit(name, 'Sluice did not make it', 'Rename the source, or set another table.')
    }
    return family.TTL === TTL ? null : [{ ...family, TTL }]
  })
}

/**
 * A row of a table as it was stored: the newest of its versions, whole.
 * @param {TableFacts} facts @param {import('./cells.js').FoundRow} row
 */
export function rowOf ({ columns, layout }, { cells }) {
  const newest = layout === UPSERT ? cells.reduce((most, { timestamp }) => timestamp > most ? timestamp : most, 0n) : null
  const values = new Map(cells.filter(({ timestamp }) => newest === null || timestamp === newest)
    .map(({ column, value }) => [column, value]))
  return Object.fromEntries(columns.map(({ name, kind }) => {
    const bytes = values.get(name)
    return [name, bytes === undefined ? null : kinds[kind].decode(bytes)]
  }))
}
