import { ANOTHER_TABLE, checkRowKey } from '../keyed/tables.js'
import { quote } from '../names.js'
import { columnsOf, completeTable } from '../sql/tables.js'
import { ORIGIN, UPSERT } from '../upsert/layout.js'
import { keyOf } from '../upsert/sql.js'
import { fitTable, misfit } from '../wide.js'
import { dialect, tableName } from './dialect.js'

/**
 * Tables of rows. A partition holds the rows of a source, and of a length of time, which the table's comment states: it stays what it was
 * when the table was made. In it rows are sorted by time; what tells those of one time apart is `sluice_id`, and `sensor` in a narrow one.
 * A table of the layout upsert has a partition for each key, and in it a row of each gateway and source.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {{name: string, kind: string, isKey: boolean}} Column
 * @typedef {{exists: boolean, layout?: string, key: string[], bucketNs: bigint, keptSeconds: number, table: string, columns: Column[]}}
 *   TableFacts  without the columns `bucket` and `sluice_id`; `layout`: unless wide or narrow; `key`: of the layout upsert
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 *
 * @typedef {object} Plan
 * @property {string} insert  its parameters are `bucket`, `sluice_id`, and the columns; in the layout upsert the columns and a timestamp
 * @property {string} [remove]  of the layout upsert: what is there of a row; its parameters are a timestamp and the columns of the key
 * @property {PlacedColumn[]} columns
 * @property {bigint} bucketNs
 */

const MINUTE_NS = 60_000_000_000n
const DAY_SECONDS = 86_400
const MARK = /^Sluice: (?:partitions of (\d+) min(, documents)?|(a row per key))$/
const OWN = ['bucket', 'sluice_id']
const KEYS = ['partition_key', 'clustering']

/** How many files of a table hold rows that are removed as a whole. */
const WINDOWS = 24

/**
 * @param {Client} client
 * @param {CassandraServer} server
 * @param {string} name
 * @returns {Promise<TableFacts>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function tableFacts (client, server, name) {
  const table = tableName(name)
  const [{ rows: [found] }, { rows: columns }] = await Promise.all([
    'SELECT comment, default_time_to_live FROM system_schema.tables', 'SELECT column_name, kind, type FROM system_schema.columns'
  ].map(select => client.execute(`${select} WHERE keyspace_name = ? AND table_name = ?`, [server.keyspace, table])))
  const there = await server.columnsOf(client, table)
  const exists = there.length > 0
  const mark = MARK.exec(found?.comment ?? '')
  if (exists && !mark) throw misfit(table, 'Sluice did not make it', 'Rename the source, or set another table.')
  const its = columns.map(({ column_name: column, kind, type }) => ({ name: column, kind: type, isKey: KEYS.includes(kind) }))
    .filter(({ name: column }) => there.includes(column) && !OWN.includes(column))
  return {
    table: server.nameOf(table),
    exists,
    layout: mark?.[3] ? UPSERT : mark?.[2] ? 'document' : undefined,
    key: its.filter(({ name: column, isKey }) => isKey && column !== ORIGIN).map(column => column.name),
    bucketNs: BigInt(mark?.[1] ?? 0) * MINUTE_NS,
    keptSeconds: found?.default_time_to_live ?? 0,
    columns: its
  }
}

/**
 * @param {Client} client
 * @param {CassandraServer} server
 * @param {{name: string, arranged: Batch, withSource: boolean}} wanted
 * @param {{layout: string, key: string[], bucketMinutes: number, keepDays: number}} options  of the sink
 * @returns {Promise<Plan>}
 */
export async function prepareTable (client, server, { name, arranged, withSource }, options) {
  const wanted = columnsOf(arranged, dialect, withSource, options)
  const { isUpsert, partition, clustering, mark } = shapeOf(wanted, withSource, options)
  const keys = [...partition, ...clustering].filter(key => !OWN.includes(key))
  const keptSeconds = Math.ceil(options.keepDays * DAY_SECONDS)
  const read = async () => {
    const facts = await tableFacts(client, server, name)
    checkRowKey(name, facts.columns, keys)
    const isDocument = facts.layout === 'document'
    if (facts.exists && isDocument !== (options.layout === 'document')) {
      throw misfit(name, `it has ${isDocument ? '' : 'no '}documents`, ANOTHER_TABLE)
    }
    return { ...facts, ...fitTable(name, wanted, facts.columns, dialect) }
  }
  const found = await completeTable(read, async ({ table, exists, missing }) => {
    const added = missing.map(column => `${quote(column.name)} ${dialect.columnTypes[column.type]}`).join(', ')
    if (exists) return client.execute(`ALTER TABLE ${table} ADD (${added})`)
    const [its, sorted] = [partition, clustering].map(list => list.map(quote).join(', '))
    await client.execute(`CREATE TABLE IF NOT EXISTS ${table} (${isUpsert ? '' : 'bucket timestamp, sluice_id blob, '}${added}, ` +
      `PRIMARY KEY ((${its}), ${sorted})) WITH ${server.idOf(tableName(name))} AND comment = 'Sluice: ${mark}' ` +
      `AND default_time_to_live = ${keptSeconds}${isUpsert ? '' : compaction(keptSeconds)}`)
  }, error => /already exists|conflicts with an existing column/i.test(error.message))
  if (found.keptSeconds !== keptSeconds && found.exists) {
    await client.execute(`ALTER TABLE ${found.table} WITH default_time_to_live = ${keptSeconds}`)
  }
  const { table, columns, bucketNs } = found
  const names = [...isUpsert ? [] : OWN, ...columns.map(column => column.name)].map(quote)
  const insert = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  if (!isUpsert) return { columns, bucketNs, insert }
  const its = keyOf(columns).map(column => `${quote(column.name)} = ?`)
  const remove = `DELETE FROM ${table} USING TIMESTAMP ? WHERE ${its.join(' AND ')}`
  return { columns, bucketNs, insert: `${insert} USING TIMESTAMP ?`, remove }
}

/**
 * How the rows of a new table are found, and what its comment says.
 * @param {import('../wide.js').WideColumn[]} wanted
 * @param {boolean} withSource
 * @param {{layout: string, bucketMinutes: number}} options
 */
function shapeOf (wanted, withSource, { layout, bucketMinutes }) {
  if (layout === UPSERT) {
    const key = keyOf(/** @type {PlacedColumn[]} */ (wanted)).map(({ name }) => name)
    return { isUpsert: true, partition: key.filter(name => name !== ORIGIN), clustering: [ORIGIN], mark: 'a row per key' }
  }
  const partition = [...withSource ? ['source'] : [], 'bucket']
  const clustering = ['time', 'time_ns', ...layout === 'narrow' ? ['sensor'] : [], 'sluice_id']
  return {
    isUpsert: false, partition, clustering, mark: `partitions of ${bucketMinutes} min${layout === 'document' ? ', documents' : ''}`
  }
}

/** Rows that end together are kept in files of their own, which end as a whole. @param {number} keptSeconds */
function compaction (keptSeconds) {
  if (keptSeconds === 0) return ''
  const minutes = Math.max(1, Math.ceil(keptSeconds / 60 / WINDOWS))
  return ' AND compaction = {\'class\': \'TimeWindowCompactionStrategy\', \'compaction_window_unit\': \'MINUTES\', ' +
    `'compaction_window_size': ${minutes}}`
}
