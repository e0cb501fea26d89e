import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { sqlSink } from '../sql/sink.js'
import { keyOf } from '../upsert/sql.js'
import { claim, compactCommits, find, move, nameStore, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { insertRows } from './insert.js'
import { layoutOf } from './layouts.js'
import { loadRows } from './load.js'
import { checkWarnings, isTransient, refuseInfinities } from './refused.js'
import { schema } from './sink.schema.js'
import { agingTable, prepareTable, tableName } from './tables.js'

export { isTransient, schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {import('./session.js').Facts} Facts
 * @typedef {import('./connection.js').MysqlServer} MysqlServer
 * @typedef {{connection: import('./session.js').Connection, facts: Facts}} Session
 */

/** The server has undone one of two transactions that waited for each other, which is to be tried again. */
const DEADLOCK = 1213
const DEADLOCK_RETRIES = 5
const DEADLOCK_PAUSE_MS = 10

/** Errors by which servers, and proxies before them, report that LOAD DATA LOCAL is not allowed. */
const NO_LOCAL_INFILE = [1148, 3948, 4166]

/** @type {Record<number, string>} */
const FIXES = {
  1044: 'Grant the user rights on the database, LOCK TABLES among them.',
  1142: 'Grant the user that right on the database.',
  1665: 'Set the server\'s binlog_format to ROW or MIXED.'
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: MysqlServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = withDefaults(schema, given)
  return sqlSink(options, storage(layoutOf(/** @type {any} */ (options)), server))
}

/**
 * @param {import('./layouts.js').Layout} layout
 * @param {MysqlServer} server
 * @returns {import('../sql/sink.js').Storage<Session, Plan>}
 */
function storage (layout, server) {
  return {
    dialect,
    place: server.place,
    arrange: layout.arrange,
    isTransient,
    use: (work, signal) => server.use((connection, facts) => work({ connection, facts }), signal),
    failure (error) {
      const { errno } = /** @type {any} */ (error)
      if (NO_LOCAL_INFILE.includes(errno)) server.refuseFiles()
      return new SluiceError('SLUICE_SINK_MYSQL', `${server.place}: ${describe(error)}.`, { cause: error, fix: FIXES[errno] })
    },
    check (batches) {
      if (layout.holdsFloats) refuseInfinities(batches)
    },
    prepareCommits: ({ connection }) => prepareCommits(connection, server.place),
    readCommits: ({ connection }) => readCommits(connection),
    nameStore: ({ connection }, id) => nameStore(connection, id),
    claim: ({ connection }, wanted, previous) => claim(connection, wanted, previous),
    find: ({ connection }, wanted) => find(connection, wanted),
    move: ({ connection }, records) => move(connection, records),
    compact: ({ connection }, merged) => compactCommits(connection, merged),
    prepareTable ({ connection, facts }, name, arranged, withSource) {
      const table = { name: tableName(name, !withSource, facts), source: arranged.source }
      return prepareTable(connection, facts, table, withSource, layout, layout.columns(arranged, withSource))
    },
    agingTable ({ connection, facts }, name, withSource) {
      return agingTable(connection, facts, tableName(name, !withSource, facts), layout)
    },
    async store (session, claimed, { probe }) {
      for (let retries = DEADLOCK_RETRIES; ; retries--) {
        try {
          return await transaction(session, claimed, probe)
        } catch (error) {
          if (retries === 0 || /** @type {any} */ (error).errno !== DEADLOCK) throw error
          await sleep(Math.random() * DEADLOCK_PAUSE_MS)
        }
      }
    }
  }
}

/** @param {Session} session @param {() => Promise<Map<Plan, Batch[]>>} claimed @param {boolean} probe */
async function transaction (session, claimed, probe) {
  const { connection } = session
  await connection.query('START TRANSACTION')
  for (const [plan, batches] of await claimed()) await storeRows(session, plan, batches)
  await connection.query(probe ? 'ROLLBACK' : 'COMMIT')
}

/** @param {Session} session @param {Plan} plan @param {Batch[]} batches  arranged */
async function storeRows ({ connection, facts: { localInfile, maxPacketBytes } }, plan, batches) {
  const isUpsert = keyOf(plan.columns).length > 0
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0)
  let stored = 0
  if (localInfile && !isUpsert) {
    const result = await loadRows(connection, plan, batches)
    await checkWarnings(connection, result)
    stored = result.affectedRows
  } else {
    for await (const result of insertRows(connection, plan, batches, maxPacketBytes)) {
      await checkWarnings(connection, result)
      stored += result.affectedRows
    }
  }
  // Of an upsert it counts what has changed.
  if (isUpsert || stored === rows) return
  throw new Error(`the server stored ${stored} of ${rows} rows in table "${plan.table}", and does not say why`)
}
