import { documents } from '../../batch/layouts.js'
import { withDefaults } from '../../base/defaults.js'
import { remembered } from '../../base/remembered.js'
import { BatchKeys } from '../keyed/batch-keys.js'
import { keyedSink } from '../keyed/sink.js'
import { isRefusal } from '../refusal.js'
import { findCommits, insertCommits, mergeCommits, nameStore, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { rowChunks, upsertChunks } from './rows.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'
import { SMALL_IN_FLIGHT, writeAll } from './write.js'

export { schema }

/**
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 */

/** How Cassandra says that a row is at fault: it is larger than a segment of its commit log may hold, or a key of it is too long. */
const REFUSED = /oversized mutation|key (length|size)|is too (large|long|big)|key may not be empty/i

/** Of an invalid statement. */
const INVALID = 0x2200

/** Of the samples in a document, in characters: a server takes no statement of more than half a segment of its commit log. */
const MAX_DOCUMENT_LENGTH = 2 ** 20

/** A document of some rows of an interval would stand beside the whole one: one that is tried is older than any, and ends by itself. */
const TRIED = ' USING TIMESTAMP 1 AND TTL 1'

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code, message }) => code === INVALID && REFUSED.test(message))
}

/**
 * Cassandra has no transactions. A row's key comes from its batch, so that writing it again changes nothing; records follow the rows.
 * Neither is ever changed, so the times at which they are written decide nothing, and are left to the servers: a time made of the identity
 * would lie before that of any deletion, which would then hide for ever what is stored again. Rows of the layout upsert are changed, and
 * there the timestamp is the version.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: CassandraServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const { layout, intervalMs } = options
  const keys = new BatchKeys()
  const isDocument = layout === 'document'
  // Rows and documents that are left of a batch, when the layout is changed while it is half stored, are not taken for each other.
  const keyOfBatch = (/** @type {import('../../batch/batch.js').Batch} */ batch) => keys.of(batch, isDocument ? [intervalMs] : [])
  const arrange = isDocument
    ? { arrange: (/** @type {import('../../batch/batch.js').Batch} */ batch) =>
        documents(batch, BigInt(intervalMs) * 1_000_000n, MAX_DOCUMENT_LENGTH) }
    : {}
  const began = remembered(() => server.use(beganBy))
  return keyedSink(options, {
    ...arrange,
    dialect,
    place: server.place,
    isTransient,
    failure: 'SLUICE_SINK_CASSANDRA',
    use: (work, signal) => server.use(work, signal),
    prepareCommits: client => prepareCommits(client, server),
    readCommits: client => readCommits(client, server),
    nameStore: (client, id) => nameStore(client, server, id),
    find: (client, claims) => findCommits(client, server, claims),
    leave: (client, records) => insertCommits(client, server, records),
    merge: (client, merged) => mergeCommits(client, server, merged),
    prepareTable: (client, name, arranged, withSource) => prepareTable(client, server, { name, arranged, withSource }, options),
    async store (client, places, { probe, signal }) {
      for (const [plan, its] of Map.groupBy(places, place => place.plan)) {
        const batches = its.map(({ arranged }) => arranged)
        if (plan.remove) {
          await writeAll(client, upsertChunks(plan, batches, await began()), signal, SMALL_IN_FLIGHT)
        } else {
          await writeAll(client, rowChunks(plan, batches, keyOfBatch, plan.insert + (probe && isDocument ? TRIED : '')), signal)
        }
      }
    }
  })
}

/** When this process began, by the server's clock. @param {import('cassandra-driver').Client} client */
async function beganBy (client) {
  const { rows: [{ now }] } = await client.execute('SELECT toUnixTimestamp(now()) AS now FROM system.local')
  return Number(now) - performance.now()
}
