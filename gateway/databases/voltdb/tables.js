import { ANOTHER_TABLE, checkRowKey } from '../keyed/tables.js'
import { COMMITS_TABLE } from '../names.js'
import { columnsOf, completeTable } from '../sql/tables.js'
import { fitTable, misfit } from '../wide.js'
import { dialect, nameIn, nameOf } from './dialect.js'
import { TYPE } from './protocol.js'

/**
 * Tables of rows, each of which is known by its time, its batch and its number in that; in a narrow table also by the sensor. The rows of a
 * batch are in one partition.
 *
 * @typedef {import('./connection.js').Session} Session
 * @typedef {{name: string, kind: string, bytes: number, isKey: boolean, isPartition: boolean}} Column  by the name that it was given
 * @typedef {{table: string, width: number, columns: PlanColumn[]}} Plan  all columns, in the table's order: a row has a
 *   value for each
 * @typedef {{name: string, type: number, placed?: import('../wide.js').PlacedColumn}} PlanColumn  `placed`: where the value comes from;
 *   NULL unless it is a key's
 */

/** What all columns of a row may have together, and a text of them at most. */
const ROW_BYTES = 2_097_152
const TEXT_BYTES = 524_288
const TAG_BYTES = 2048
const KIND_BYTES = new Map([
  ['TINYINT', 1], ['SMALLINT', 2], ['INTEGER', 4], ['BIGINT', 8], ['FLOAT', 8], ['TIMESTAMP', 8], ['DECIMAL', 16]
])

const TEXTS = ['VARCHAR', 'VARBINARY']
const OWN = ['time_ns', 'sluice_batch', 'sluice_row']

/**
 * @param {Session} session
 * @param {string} table
 * @param {{signal?: AbortSignal, wanted?: {name: string}[]}} [how]  `wanted`: columns that may be there, as long names cannot be read back
 * @returns {Promise<Column[]>} none where it is missing
 */
export async function readColumns (session, table, { signal, wanted = [] } = {}) {
  const catalog = (/** @type {string} */ what) => session.call('@SystemCatalog', [what], signal)
  const [[{ rows, names }], [keys]] = await Promise.all(['COLUMNS', 'PRIMARYKEYS'].map(catalog))
  const is = (/** @type {any[]} */ row) => row[2].toLowerCase() === table
  const inKey = keys.rows.filter(is).map(row => row[3])
  const at = (/** @type {string} */ name) => names.indexOf(name)
  const known = new Map(wanted.map(({ name }) => [nameIn(name), name]))
  const given = (/** @type {string} */ column) => known.get(column) ?? nameOf(column)
  return rows.filter(is).sort((a, b) => Number(a[at('ORDINAL_POSITION')]) - Number(b[at('ORDINAL_POSITION')])).map(row => ({
    name: given(row[3].toLowerCase()),
    kind: row[at('TYPE_NAME')],
    bytes: Number(row[at('COLUMN_SIZE')]),
    isKey: inKey.includes(row[3]),
    isPartition: row[at('REMARKS')] === 'PARTITION_COLUMN'
  }))
}

/**
 * @param {Session} session
 * @param {{name: string, arranged: import('../../batch/batch.js').Batch, withSource: boolean}} wanted
 * @param {{layout: string}} options  of the sink
 * @returns {Promise<Plan>}
 */
export async function prepareTable (session, { name, arranged, withSource }, options) {
  const table = nameIn(name)
  const wanted = columnsOf(arranged, dialect, withSource, options)
  const keys = [...OWN, ...options.layout === 'narrow' ? ['sensor'] : []]
  const read = async () => {
    const there = await readColumns(session, table, { wanted })
    checkRowKey(name, there, keys)
    const isPartitioned = there.some(column => column.isPartition && column.name === 'sluice_batch')
    if (there.length > 0 && !isPartitioned) throw misfit(name, 'it is not partitioned by sluice_batch', ANOTHER_TABLE)
    return { there, exists: there.length > 0, ...fitTable(name, wanted, there.filter(column => !OWN.includes(column.name)), dialect) }
  }
  const found = await completeTable(read, async ({ there, exists, missing }) => {
    const added = declarations(name, there, missing, keys)
    if (exists) {
      return session.query(added.map(column => `ALTER TABLE ${table} ADD COLUMN ${column};`).join(' '))
    }
    await session.query(`CREATE TABLE ${table} (time_ns BIGINT NOT NULL, sluice_batch VARBINARY(16) NOT NULL, ` +
      `sluice_row INTEGER NOT NULL, ${added.map(column => `${column}, `).join('')}PRIMARY KEY (${keys.join(', ')})); ` +
      `PARTITION TABLE ${table} ON COLUMN sluice_batch;`)
  }, error => /already exists|already defined/i.test(error.message))
  const placed = new Map(found.columns.map(column => [column.name, column]))
  return {
    table,
    width: found.there.length,
    columns: found.there.map(({ name: its, kind }) => ({
      name: its, type: TYPE[kind.toLowerCase()], placed: placed.get(its)
    }))
  }
}

/**
 * Texts share half of the room that a row has left, so that columns can be added later.
 * @param {string} name
 * @param {Column[]} there
 * @param {import('../wide.js').WideColumn[]} missing
 * @param {string[]} keys
 */
function declarations (name, there, missing, keys) {
  const kindOf = (/** @type {import('../wide.js').WideColumn} */ { type }) => dialect.columnTypes[type]
  const isTag = (/** @type {import('../wide.js').WideColumn} */ column) =>
    column.origin === 'tag' || column.origin === 'source' || (column.name === 'sensor' && keys.includes('sensor'))
  const texts = missing.filter(column => TEXTS.includes(kindOf(column)) && !isTag(column)).length
  const taken = there.reduce((sum, { kind, bytes }) => sum + (KIND_BYTES.get(kind) ?? bytes + 4), 0)
  const rest = missing.reduce((sum, column) => sum + (KIND_BYTES.get(kindOf(column)) ?? (isTag(column) ? TAG_BYTES + 4 : 0)), 64)
  const share = Math.min(TEXT_BYTES, Math.floor((ROW_BYTES - taken - rest) / 2 / texts) - 4)
  if (taken + rest > ROW_BYTES || (texts > 0 && share < 64)) {
    throw misfit(name, `its row would have more than the ${ROW_BYTES} bytes that ${dialect.product} allows`,
      'Store the sources in tables of their own, or fewer texts.')
  }
  return missing.map(column => {
    const kind = kindOf(column)
    const bytes = isTag(column) ? TAG_BYTES : share
    const type = kind === 'VARCHAR' ? `VARCHAR(${bytes} BYTES)` : kind === 'VARBINARY' ? `VARBINARY(${bytes})` : kind
    return `${nameIn(column.name)} ${type}${keys.includes(column.name) ? ' NOT NULL' : ''}`
  })
}

/**
 * @param {Session} session
 * @param {string} name
 * @returns {Promise<import('../recorded/aging.js').AgingTable|null>}
 */
export async function agingTable (session, name) {
  const table = nameIn(name)
  const columns = await readColumns(session, table)
  if (table === COMMITS_TABLE || columns.length === 0) return null
  return {
    isOwned: columns.some(column => column.name === 'sluice_batch' && column.isKey),
    async span () {
      const [[oldest, newest]] = await session.query(`SELECT MIN(time_ns), MAX(time_ns) FROM ${table}`)
      return oldest === null ? null : { oldest, newest }
    },
    async removeBefore (before, maxRows) {
      const old = `FROM ${table} WHERE time_ns < ?`
      const [last] = await session.query(`SELECT time_ns ${old} ORDER BY time_ns LIMIT 1 OFFSET ${maxRows}`, [before])
      const [[removed]] = await session.query(`DELETE ${old}`, [last === undefined ? before : last[0] + 1n])
      return Number(removed)
    }
  }
}
