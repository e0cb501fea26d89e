import { setTimeout as sleep } from 'node:timers/promises'
import { withDefaults } from '../../base/defaults.js'
import { isRefusal } from '../refusal.js'
import { sqlSink } from '../sql/sink.js'
import { columnsOf } from '../sql/tables.js'
import { claim, compact, find, move, nameStore, Overtaken, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { checkRows, rowsOf } from './rows.js'
import { schema } from './sink.schema.js'
import { agingTable, prepareTable } from './tables.js'

export { schema }

/**
 * Numbers by which the server says that the rows are at fault: values too large, NULL where none may be, duplicate keys, no character, no
 * date, beyond a number's range, foreign keys and checks.
 */
const REFUSED = [274, 287, 301, 302, 303, 307, 314, 461, 677]

/** A deadlock, which the server has ended. */
const DEADLOCK = 133
const RETRIES = 5
const PAUSE_MS = 10

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code }) => REFUSED.includes(code))
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: import('./connection.js').HanaServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  return sqlSink(options, {
    dialect,
    place: server.place,
    isTransient,
    use: (work, signal) => server.use(work, signal),
    failure: 'SLUICE_SINK_HANA',
    check: checkRows,
    prepareCommits,
    readCommits,
    nameStore,
    mayNameTwice: true,
    claim,
    find,
    move,
    compact,
    prepareTable: (session, name, arranged, withSource) => {
      return prepareTable(session, name, columnsOf(arranged, dialect, withSource, options), withSource)
    },
    agingTable,
    async store (session, claimed, how) {
      for (let retries = RETRIES; ; retries--) {
        try {
          return await transaction(session, claimed, how)
        } catch (error) {
          if (retries === 0 || !(error instanceof Overtaken || /** @type {any} */ (error).code === DEADLOCK)) throw error
          await session.rollback()
          await sleep(Math.random() * PAUSE_MS)
        }
      }
    }
  })
}

/**
 * @param {import('./session.js').Session} session
 * @param {() => Promise<Map<import('./tables.js').Plan, import('../../batch/batch.js').Batch[]>>} claimed
 * @param {{probe: boolean}} how
 */
async function transaction (session, claimed, { probe }) {
  session.begin()
  for (const [plan, batches] of await claimed()) {
    const rows = rowsOf(plan, batches)
    const stored = await session.each(plan.insert, rows)
    if (stored === rows.length) continue
    throw new Error(`the server stored ${stored} of ${rows.length} rows in "${plan.table}", and does not say why`)
  }
  await (probe ? session.rollback() : session.commit())
}
