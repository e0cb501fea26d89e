import { describe, SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { recordKey } from '../commit-records.js'
import { RecordSet } from '../record-set.js'
import { isRefusal } from '../refusal.js'
import { SqlSink } from '../sql/sink.js'
import { findCommits, insertCommits, mergeCommits, nameStore, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { BatchKeys, rowChunks } from './rows.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'
import { writeAll } from './write.js'

export { schema }

/**
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {{client: import('cassandra-driver').Client, records: CommitRow[], signal?: AbortSignal}} Session  with the records that follow
 *   the rows of a write
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
  /** @type {import('../sql/sink.js').Storage<Session, import('./tables.js').Plan>} */
  const storage = {
    dialect,
    place: server.place,
    isTransient,
    failure: error => new SluiceError('SLUICE_SINK_CASSANDRA', `${server.place}: ${describe(error)}.`, { cause: error }),
    use: (work, signal) => server.use(client => work({ client, records: [], signal }), signal),
    prepareCommits: ({ client }) => prepareCommits(client, server),
    readCommits: ({ client }) => readCommits(client, server),
    nameStore: ({ client }, id) => nameStore(client, server, id),
    async claim (session, wanted, previous) {
      const held = new RecordSet()
      for (const row of await findCommits(session.client, server, [...wanted, ...previous])) held.add(row)
      if (!previous.every(claim => held.find(claim))) return []
      session.records = wanted.filter(record => !held.find(record))
      return session.records
    },
    find: ({ client }, wanted) => findCommits(client, server, wanted),
    async move (session, moved) {
      session.records = session.records.map(record => moved.find(its => recordKey(its) === recordKey(record)) ?? record)
    },
    compact: async ({ client }, merged) => mergeCommits(client, server, await merged()),
    prepareTable: ({ client }, name, arranged, withSource) => prepareTable(client, server, { name, arranged, withSource }, options),
    // The server removes by itself what is too old.
    agingTable: async () => null,
    async store (session, claimed, { probe }) {
      const { client, signal } = session
      for (const [plan, batches] of await claimed()) await writeAll(client, rowChunks(plan, batches, keys), signal)
      if (!probe) await insertCommits(client, server, session.records)
    }
  }
  return new SqlSink(options, storage)
}
