import { setTimeout as sleep } from 'node:timers/promises'
import { compatibilityPartitioner } from '@platformatic/kafka'
import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { isAnswer, reasonOf } from '../../kafka/client.js'
import { UNTIMELY } from '../../kafka/produce.js'
import { isFenced, TransactionalProducer } from '../../kafka/producer.js'
import { recordKey } from '../commit-records.js'
import { orAborted } from '../connecting/limits.js'
import { isRefusal } from '../refusal.js'
import { sqlSink } from '../sql/sink.js'
import { columnsOf } from '../sql/tables.js'
import { CommitLog } from './commit-log.js'
import { dialect, topicName } from './dialect.js'
import { GatheredWrites } from './gathered-writes.js'
import { grouped, recordsOf, ROW_TOO_LARGE } from './records.js'
import { schema } from './sink.schema.js'

export { schema }

/**
 * @typedef {import('./connection.js').KafkaServer} KafkaServer
 * @typedef {import('./records.js').Plan} Plan
 * @typedef {import('../../kafka/produce.js').KafkaRecord} KafkaRecord
 * @typedef {import('./commit-log.js').CommitRecord} CommitRecord
 * @typedef {object} Session
 * @property {import('../commit-records.js').CommitRow[]} records  that go with the rows of a write
 * @property {boolean} [isMerging]  what is read is to be merged
 */

/**
 * Several sinks of one writer take turns, each ending what another has under way; and what brokers have just been told, or have just
 * started with, they know a moment later. The write is tried again for so long.
 */
const PATIENCE_MS = 5000
const PAUSE_MS = 50
const SOON = [
  'COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_OR_FOLLOWER',
  'UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_ID', 'UNKNOWN_LEADER_EPOCH', 'FENCED_LEADER_EPOCH', 'OFFSET_NOT_AVAILABLE',
  UNTIMELY, 'CONCURRENT_TRANSACTIONS', 'UNKNOWN_SERVER_ERROR' // of a coordinator whose transaction another ends at the same time
]

/** What a topic without a limit of its own accepts. */
const DEFAULT_MAX_BYTES = 1_048_588

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code }) => code === ROW_TOO_LARGE)
}

/**
 * A transaction has the rows and their commit records. Only one writes at a time under a transactional id, and who opens it ends what the
 * one before had under way: so what was read of the commit records after that is all there is, until somebody else opens it.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: KafkaServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const client = server.client()
  const log = new CommitLog(client, options.writer)
  const producer = new TransactionalProducer(client, `sluice/${options.writer}/${options.table}`, options.compression)
  const turns = new Turns(1)
  let maxBytes = DEFAULT_MAX_BYTES
  let cluster = ''

  const begin = async () => {
    if (producer.isOpen) return log.check()
    await producer.open()
    await log.read()
  }

  /** @param {Session} session @param {() => Promise<Iterable<KafkaRecord>>} records @param {boolean} [probe] */
  const transact = async (session, records, probe = false) => {
    await begin()
    for (const group of grouped(await records(), maxBytes)) await producer.send(group)
    await producer.end(!probe)
  }

  /** @param {() => Promise<any>} work */
  const attempt = async work => {
    const end = performance.now() + PATIENCE_MS
    for (let attempts = 1; ; attempts++) {
      try {
        return await server.use(work)
      } catch (error) {
        await producer.giveUp(error)
        if (!isFenced(error) && !isAnswer(error, ...SOON) || performance.now() > end) throw error
        await sleep(Math.random() * PAUSE_MS * attempts)
      }
    }
  }

  /** @type {import('../sql/sink.js').Storage<Session, Plan>} */
  const storage = {
    dialect,
    place: server.place,
    isTransient,
    failure: error => server.otherFailure(error),
    use: (work, signal) => orAborted(turns.run(() => attempt(() => work({ records: [] })), signal), signal),
    async prepareCommits () {
      cluster = (await client.cluster()).id
      const configs = await log.prepare()
      if (configs.get('cleanup.policy') !== 'compact') throw notCompacted(server.place)
      maxBytes = Number(configs.get('max.message.bytes') ?? DEFAULT_MAX_BYTES)
    },
    async readCommits ({ isMerging }) {
      if (!producer.isOpen) await producer.open()
      await log.read()
      return [...isMerging ? log.ownRows : log.rows, storeRow(`${cluster}/${log.topicId}`)]
    },
    // It has one.
    nameStore: async () => {},
    async claim (session, wanted, previous) {
      if (!previous.every(claim => log.find(claim))) return []
      session.records = wanted.filter(record => !log.find(record))
      return session.records
    },
    find: async (_session, wanted) => wanted.flatMap(claim => log.find(claim) ?? []),
    async move (session, moved) {
      session.records = session.records.map(record => moved.find(its => recordKey(its) === recordKey(record)) ?? record)
    },
    async compact (session, merged) {
      /** @type {CommitRecord[]} */
      let records = []
      await transact(session, async () => {
        session.isMerging = true
        records = (await merged()).flatMap(row => log.mergedRecords(row))
        return records
      })
      log.add(records)
    },
    async prepareTable (_session, name, arranged, withSource) {
      const columns = columnsOf(arranged, dialect, withSource, options)
      const topic = topicName(name)
      const { partitions } = await client.ensureTopic(topic, { partitions: options.partitions || -1 }).catch(error => {
        throw isAnswer(error, 'INVALID_TOPIC_EXCEPTION') ? impossible(topic, error) : error
      })
      const limit = Number((await client.configsOf(topic, ['max.message.bytes'])).get('max.message.bytes') ?? DEFAULT_MAX_BYTES)
      maxBytes = Math.min(maxBytes, limit)
      const { format, keyTag } = options
      return { topic, partitions: partitions.length, maxBytes: limit, format, keyTag, columns }
    },
    async store (session, claimed, { probe }) {
      /** @type {CommitRecord[]} */
      let commits = []
      await transact(session, async () => {
        const rows = await claimed()
        commits = session.records.map(row => log.recordOf(row))
        return chained(commits, rows)
      }, probe)
      if (!probe) log.add(commits)
    },
    close: () => client.close()
  }

  const sink = sqlSink(options, storage)
  const gathered = new GatheredWrites(sink.write.bind(sink))
  sink.write = (batches, how) => gathered.write(batches, how)
  return sink
}

/** @param {CommitRecord[]} commits @param {Map<Plan, import('../../batch/batch.js').Batch[]>} rows */
function * chained (commits, rows) {
  yield * commits
  for (const [plan, batches] of rows) yield * recordsOf(plan, batches, partitionOf)
}

/** As Java's clients have it: what they write with the same key is in the same partition. @param {Buffer} key @param {number} partitions */
function partitionOf (key, partitions) {
  return compatibilityPartitioner(/** @type {any} */ (undefined), key) % partitions
}

/** @param {string} id  of the cluster and its topic of commit records: one that is created again is another */
function storeRow (id) {
  const numbers = { seq: 0, last: 0, hash: 0, staged: 0, stored: 0, dead: 0, before: 0 }
  return { table: '', gateway: id, source: '', epoch: '', ...numbers }
}

/** Of names that differ only by points and underscores, a cluster has one. @param {string} topic @param {unknown} error */
function impossible (topic, error) {
  return new SluiceError('SLUICE_SINK_IDENTIFIER', `Kafka cannot have the topic "${topic}": ${reasonOf(error).message}.`, {
    cause: error, fix: 'Rename the source, or set another topic.'
  })
}

/** @param {string} place */
function notCompacted (place) {
  return new SluiceError('SLUICE_SINK_KAFKA', `${place}: the topic sluice_commits is not compacted, so commit records would be removed.`, {
    fix: 'Set its cleanup.policy to compact.'
  })
}
