import { withDefaults } from '../../base/defaults.js'
import { manyAtOnce } from '../../base/many-at-once.js'
import { storeRecord } from '../commit-records.js'
import { BatchKeys } from '../keyed/batch-keys.js'
import { keyedSink, lending } from '../keyed/sink.js'
import { isRefusal } from '../refusal.js'
import { insertCommits, mergeCommits, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { load } from './load.js'
import { checkRows, rowChunks } from './rows.js'
import { schema } from './sink.schema.js'
import { agingTable, prepareTable } from './tables.js'
import { CallError } from './wire.js'

export { schema }

/** @typedef {import('./connection.js').VoltdbServer} VoltdbServer */

/** How VoltDB says that a row is at fault. */
const REFUSED = /exceeds the size of the|Constraint Type NOT_NULL|maximum row size/i

/** Calls of one write under way at once. */
const CALLS_AT_ONCE = 16

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, cause => cause instanceof CallError && REFUSED.test(cause.message))
}

/**
 * A transaction of VoltDB is a procedure that runs in one partition. Its own procedure of bulk loading fills one table: a row's key comes
 * from its batch, so that writing it again changes nothing, and the records follow the rows.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: VoltdbServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const keys = new BatchKeys()
  let notice = ''
  /** @type {import('./wire.js').Wire|null} */
  let wire = null
  /** @type {import('../keyed/sink.js').Storage<import('./connection.js').Session, import('./tables.js').Plan>} */
  const storage = {
    dialect,
    place: server.place,
    isTransient,
    failure: 'SLUICE_SINK_VOLTDB',
    use: lending(signal => server.session(signal)),
    async prepareCommits (session) {
      await prepareCommits(session)
      wire = session.wire
      notice = await session.lossNotice()
    },
    notice: () => notice,
    readCommits: session => readCommits(session),
    nameStore: (session, id) => insertCommits(session, [storeRecord(id)]),
    mayNameTwice: true,
    inMemory: true,
    find: (session, claims) => readCommits(session, claims),
    leave: (session, records, signal) => insertCommits(session, records, signal),
    merge: mergeCommits,
    prepareTable: (session, name, arranged, withSource) => prepareTable(session, { name, arranged, withSource }, options),
    agingTable: (session, name) => agingTable(session, name),
    async store (session, places, { signal }) {
      // A server that has started again may have other tables, with other columns, or none of what is in memory.
      if (session.wire !== wire) throw new Error('the connection was lost, and is there again')
      checkRows(places.map(({ batch }) => batch))
      await manyAtOnce(CALLS_AT_ONCE, rowChunks(places, keys), async ({ name, partition, table }) => {
        const isStored = await load(session, name, partition, table, { isNew: true, signal })
        if (!isStored) await load(session, name, partition, table, { isNew: false, signal })
      }, signal)
    }
  }
  return keyedSink(options, storage)
}
