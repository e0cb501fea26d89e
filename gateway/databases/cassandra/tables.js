import { quote } from '../names.js'
import { columnsOf, completeTable } from '../sql/tables.js'
import { fitTable, misfit } from '../wide.js'
import { dialect, tableName } from './dialect.js'

/**
 * Tables of rows. A partition holds the rows of a source, and of a length of time, which the table's comment states: it stays what it was
 * when the table was made. In it rows are sorted by time; what tells those of one time apart is `sluice_id`, and `sensor` in a narrow one.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {{name: string, kind: string, isKey: boolean}} Column
 * @typedef {{table: string, exists: boolean, bucketNs: bigint, keptSeconds: number, columns: Column[]}} TableFacts  without the columns
 *   `bucket` and `sluice_id`
 * @typedef {{insert: string, columns: import('../wide.js').PlacedColumn[], bucketNs: bigint}} Plan  the parameters of `insert` are
 *   `bucket`, `sluice_id`, and those columns
 */

const MINUTE_NS = 60_000_000_000n
const DAY_SECONDS = 86_400
const MARK = /^Sluice: partitions of (\d+) min$/
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
  const [, minutes = '0'] = MARK.exec(found?.comment ?? '') ?? []
  if (exists && minutes === '0') throw misfit(table, 'Sluice did not make it', 'Rename the source, or set another table.')
  return {
    table: server.nameOf(table),
    exists,
    bucketNs: BigInt(minutes) * MINUTE_NS,
    keptSeconds: found?.default_time_to_live ?? 0,
    columns: columns.map(({ column_name: column, kind, type }) => ({ name: column, kind: type, isKey: KEYS.includes(kind) }))
      .filter(({ name: column }) => there.includes(column) && !OWN.includes(column))
  }
}

/**
 * @param {Client} client
 * @param {CassandraServer} server
 * @param {{name: string, arranged: Batch, withSource: boolean}} wanted
 * @param {{layout: string, bucketMinutes: number, keepDays: number}} options  of the sink
 * @returns {Promise<Plan>}
 */
export async function prepareTable (client, server, { name, arranged, withSource }, options) {
  const wanted = columnsOf(arranged, dialect, withSource, options)
  const keys = [...withSource ? ['source'] : [], 'time', 'time_ns', ...options.layout === 'narrow' ? ['sensor'] : []]
  const keptSeconds = Math.ceil(options.keepDays * DAY_SECONDS)
  const read = async () => {
    const facts = await tableFacts(client, server, name)
    if (facts.exists && String(facts.columns.filter(({ isKey }) => isKey).map(column => column.name).sort()) !== String(keys.toSorted())) {
      throw misfit(name, `its rows are not told apart by ${keys.join(', ')}`, 'Set another table: each layout needs one of its own.')
    }
    return { ...facts, ...fitTable(name, wanted, facts.columns, dialect) }
  }
  const found = await completeTable(read, async ({ table, exists, missing }) => {
    const added = missing.map(column => `${quote(column.name)} ${dialect.columnTypes[column.type]}`).join(', ')
    if (exists) return client.execute(`ALTER TABLE ${table} ADD (${added})`)
    const [partition, clustering] = [withSource ? 'source, bucket' : 'bucket', keys.filter(key => key !== 'source').join(', ')]
    await client.execute(`CREATE TABLE IF NOT EXISTS ${table} (bucket timestamp, sluice_id blob, ${added}, ` +
      `PRIMARY KEY ((${partition}), ${clustering}, sluice_id)) WITH comment = 'Sluice: partitions of ${options.bucketMinutes} min' ` +
      `AND default_time_to_live = ${keptSeconds}${compaction(keptSeconds)}`)
  }, error => /already exists|conflicts with an existing column/i.test(error.message))
  if (found.keptSeconds !== keptSeconds && found.exists) {
    await client.execute(`ALTER TABLE ${found.table} WITH default_time_to_live = ${keptSeconds}`)
  }
  const { table, columns, bucketNs } = found
  const names = ['bucket', 'sluice_id', ...columns.map(column => quote(column.name))]
  return { columns, bucketNs, insert: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})` }
}

/** Rows that end together are kept in files of their own, which end as a whole. @param {number} keptSeconds */
function compaction (keptSeconds) {
  if (keptSeconds === 0) return ''
  const minutes = Math.max(1, Math.ceil(keptSeconds / 60 / WINDOWS))
  return ' AND compaction = {\'class\': \'TimeWindowCompactionStrategy\', \'compaction_window_unit\': \'MINUTES\', ' +
    `'compaction_window_size': ${minutes}}`
}
