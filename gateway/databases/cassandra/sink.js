import { describe, SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { BatchKeys } from '../keyed/batch-keys.js'
import { keyedSink } from '../keyed/sink.js'
import { isRefusal } from '../refusal.js'
import { findCommits, insertCommits, mergeCommits, nameStore, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { rowChunks } from './rows.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'
import { writeAll } from './write.js'

export { schema }

/**
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 */

/** How Cassandra says that a row is at fault: it is larger than a segment of its commit log may hold, or a key of it is too long. */
const REFUSED = /oversized mutation|key (length|size)|is too (large|long|big)/i

/** Of an invalid statement. */
const INVALID = 0x2200

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code, message }) => code === INVALID && REFUSED.test(message))
}

/**
 * Cassandra has no transactions. A row's key comes from its batch, so that writing it again changes nothing; records follow the rows.
 * Neither is ever changed, so the times at which they are written decide nothing, and are left to the servers: a time made of the identity
 * would lie before that of any deletion, which would then hide for ever what is stored again.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: CassandraServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const keys = new BatchKeys()
  return keyedSink(options, {
    dialect,
    place: server.place,
    isTransient,
    failure: error => new SluiceError('SLUICE_SINK_CASSANDRA', `${server.place}: ${describe(error)}.`, { cause: error }),
    use: (work, signal) => server.use(work, signal),
    prepareCommits: client => prepareCommits(client, server),
    readCommits: client => readCommits(client, server),
    nameStore: (client, id) => nameStore(client, server, id),
    find: (client, claims) => findCommits(client, server, claims),
    leave: (client, records) => insertCommits(client, server, records),
    merge: (client, merged) => mergeCommits(client, server, merged),
    prepareTable: (client, name, arranged, withSource) => prepareTable(client, server, { name, arranged, withSource }, options),
    // The server removes by itself what is too old.
    agingTable: async () => null,
    async store (client, places, { signal }) {
      for (const [plan, its] of Map.groupBy(places, place => place.plan)) {
        await writeAll(client, rowChunks(plan, its.map(({ arranged }) => arranged), keys), signal)
      }
    }
  })
}
