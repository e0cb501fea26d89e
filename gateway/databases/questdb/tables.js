import { checkRowKey } from '../keyed/tables.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { columnsOf, completeTable, physicalName } from '../sql/tables.js'
import { fitTable } from '../wide.js'
import { isMissing, text } from './connection.js'
import { dialect, nameIn } from './dialect.js'

/**
 * Tables of rows, each of which is known by its time, its batch and its number in that; in a narrow table also by the sensor.
 *
 * @typedef {import('./connection.js').QuestdbServer} QuestdbServer
 * @typedef {{name: string, kind: string, isKey: boolean}} Column
 * @typedef {{table: string, id: number, columns: import('../wide.js').PlacedColumn[]}} Plan  `id`: a table that takes its place has
 *   another
 */

const DAY_NS = 86_400_000_000_000n

/** A name that would differ by case only gets a mark, which no column may have. @param {string} name */
const marked = name => name.replaceAll('_x7e_', '~')
const unmarked = (/** @type {string} */ name) => name.replaceAll('~', '_x7e_')

/**
 * @param {QuestdbServer} server
 * @param {string} table
 * @param {AbortSignal} [signal]
 * @returns {Promise<Column[]>} none where it is missing
 */
export async function readColumns (server, table, signal) {
  try {
    const rows = await server.query(`SELECT "column", "type", upsertKey FROM (SHOW COLUMNS FROM ${quote(table)})`, signal)
    return rows.map(([name, kind, isKey]) => ({ name, kind, isKey }))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** The table for a name: the second of two that differ only by case gets a mark. @param {QuestdbServer} server @param {string} name */
async function tableOf (server, name) {
  const wanted = nameIn(name)
  const alike = (await server.query(`SELECT table_name FROM tables() WHERE lower(table_name) = ${text(wanted.toLowerCase())}`))
    .map(([found]) => ({ name: found, type: 'table' }))
  return unmarked(physicalName(wanted, alike))
}

/**
 * Of a line for a table that is gone, the server would make a table, in which rows are not told apart; a line for one that is suspended it
 * acknowledges, and nobody can read it.
 * @param {QuestdbServer} server
 * @param {{table: string, id: number}[]} known  as they were when they were looked at
 */
export async function checkTables (server, known) {
  const there = await lookAt(server, known.map(({ table }) => table))
  const gone = known.find(({ table, id }) => there.get(table)?.id !== id)
  if (gone) throw new Error(`the table "${gone.table}" was dropped or made again`)
  const suspended = known.find(({ table }) => there.get(table)?.isSuspended)
  if (suspended) throw server.suspended(suspended.table)
}

/**
 * Those that tell rows apart.
 * @param {QuestdbServer} server
 * @param {string[]} tables
 * @returns {Promise<Map<string, {id: number, isSuspended: boolean}>>}
 */
async function lookAt (server, tables) {
  const names = [...new Set(tables)].map(text).join(', ')
  const rows = await server.query('SELECT table_name, id, suspended FROM tables() LEFT JOIN wal_tables() ON name = table_name ' +
    `WHERE dedup AND table_name IN (${names})`)
  return new Map(rows.map(([name, id, isSuspended]) => [name, { id, isSuspended }]))
}

/** For writes to it. @param {QuestdbServer} server @param {string} table */
export async function idOf (server, table) {
  const id = (await lookAt(server, [table])).get(table)?.id ?? -1
  await server.found(table, id)
  return id
}

/**
 * @param {QuestdbServer} server
 * @param {{name: string, arranged: import('../../batch/batch.js').Batch, withSource: boolean}} wanted
 * @param {{layout: string}} options  of the sink
 * @returns {Promise<Plan>}
 */
export async function prepareTable (server, { name, arranged, withSource }, options) {
  const table = await tableOf(server, name)
  const wanted = columnsOf(arranged, dialect, withSource, options).map(column => ({ ...column, name: marked(nameIn(column.name)) }))
  const keys = ['timestamp', 'sluice_batch', 'sluice_row', ...options.layout === 'narrow' ? ['sensor'] : []]
  const read = async () => {
    const there = await readColumns(server, table)
    checkRowKey(name, there, keys)
    const columns = there.filter(column => !dialect.ownNames.includes(column.name) || column.name === 'source')
      .map(column => ({ ...column, name: marked(column.name) }))
    return { exists: there.length > 0, ...fitTable(name, wanted, columns, dialect) }
  }
  const found = await completeTable(read, async ({ exists, missing }) => {
    const added = missing.map(column => {
      const isSymbol = column.origin === 'tag' || column.origin === 'source'
      return `${quote(unmarked(column.name))} ${isSymbol ? 'SYMBOL' : dialect.columnTypes[column.type]}`
    })
    if (exists) {
      for (const column of added) await server.query(`ALTER TABLE ${quote(table)} ADD COLUMN ${column}`)
      return server.settled(table)
    }
    await server.query(`CREATE TABLE IF NOT EXISTS ${quote(table)} (timestamp TIMESTAMP_NS, sluice_batch VARCHAR, sluice_row INT, ` +
      `${added.join(', ')}) TIMESTAMP(timestamp) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${keys.join(', ')})`)
  }, error => /already exists|duplicate column/i.test(error.message))
  return { table, id: await idOf(server, table), columns: found.columns.map(column => ({ ...column, name: unmarked(column.name) })) }
}

/**
 * @param {QuestdbServer} server
 * @param {string} name
 * @returns {Promise<import('../recorded/aging.js').AgingTable|null>}
 */
export async function agingTable (server, name) {
  const table = await tableOf(server, name)
  if (table === COMMITS_TABLE || (await readColumns(server, table)).length === 0) return null
  return {
    isOwned: true,
    async span () {
      await server.settled(table)
      const [[oldest, newest]] = await server.query(`SELECT min(timestamp)::long, max(timestamp)::long FROM ${quote(table)}`)
      return oldest === null ? null : { oldest: BigInt(oldest), newest: BigInt(newest) }
    },
    async removeBefore (before) {
      // Whole days, which are files of their own. The newest one stays in any case.
      await server.query(`ALTER TABLE ${quote(table)} DROP PARTITION WHERE timestamp < ${timeText(before - before % DAY_NS)}`)
        .catch(error => { if (!/no partitions matched/i.test(error.message)) throw error })
      return 0
    }
  }
}

/** @param {bigint} ns */
function timeText (ns) {
  return text(new Date(Number(ns / 1_000_000n)).toISOString())
}
