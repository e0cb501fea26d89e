import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Producer } from '@platformatic/kafka'
import { KafkaClient } from '../../gateway/kafka/client.js'
import { GroupMember } from '../../gateway/kafka/group.js'
import { TopicReader } from '../../gateway/kafka/reader.js'
import { KafkaReader } from '../servers/kafka-reader.js'
import { missingKafka, startKafka } from '../servers/kafka.js'
import { requireServer } from '../servers/programs.js'

/**
 * @typedef {import('../../gateway/kafka/group.js').MemberOptions} MemberOptions
 * @typedef {import('../../gateway/kafka/group.js').Stream} Stream
 */

/** Brokers would not let sessions be as short as tests want them. */
const SETTINGS = 'group.min.session.timeout.ms=1000\nlog.cleaner.backoff.ms=100'

/** A Kafka for a suite, and what reads from it. */
export class KafkaUnderTest {
  /** @type {import('../servers/kafka.js').KafkaServer} */
  server = /** @type {any} */ (null)
  #reader = /** @type {KafkaReader} */ (/** @type {unknown} */ (null))
  /** @type {{close: () => Promise<void>}[]} */
  #opened = []

  /** Call it within `describe`. */
  static inSuite () {
    const kafka = new KafkaUnderTest()
    before(async function () {
      this.timeout(120_000)
      requireServer(this, 'kafka', missingKafka())
      kafka.server = await startKafka({ settings: SETTINGS })
      kafka.#reader = new KafkaReader(kafka.server)
    })
    afterEach(async () => {
      for (const each of kafka.#opened.splice(0)) await each.close()
    })
    after(async function () {
      this.timeout(60_000)
      await kafka.#reader?.close()
      await kafka.server?.remove()
    })
    return kafka
  }

  get admin () { return this.#reader.admin }

  /** @type {import('../../gateway/kafka/client.js').Cluster} */
  cluster = {
    client: name => new KafkaClient({ host: '127.0.0.1', port: this.server.port, login: 'none', user: '', password: '' }, undefined, name)
  }

  /** @param {string} topic @param {number} [partitions] @param {Record<string, string>} [configs] */
  async create (topic, partitions = 1, configs = {}) {
    await this.admin.createTopics({
      topics: [topic], partitions, replicas: 1, configs: Object.entries(configs).map(([name, value]) => ({ name, value }))
    })
  }

  /** @param {string} topic */
  async remove (topic) {
    await this.admin.deleteTopics({ topics: [topic] })
    while ((await this.#reader.topics()).includes(topic)) await sleep(20)
  }

  /**
   * @param {string} topic
   * @param {(string|number|object)[]} values  texts and numbers, or messages as the library has them
   * @param {{partition?: number, compression?: any}} [options]
   */
  async produce (topic, values, { partition = 0, compression = 'none' } = {}) {
    const producer = new Producer({ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${this.server.port}`], retryDelay: 50, retries: 200 })
    const messages = values.map(value => ({
      topic, partition, ...typeof value === 'object' ? value : { value: Buffer.from(String(value)) }
    }))
    await producer.send({ messages: /** @type {any} */ (messages), acks: -1, compression })
    await producer.close()
  }

  /**
   * Until a group has committed an offset.
   * @param {string} group @param {string} topic @param {bigint} offset @param {number} [partition]  otherwise any
   */
  async committedAt (group, topic, offset, partition) {
    for (;;) {
      const [{ topics: [its] }] = await this.admin.listConsumerGroupOffsets({ groups: [group] })
      const partitions = (its?.name === topic ? its.partitions : []).filter(({ partitionIndex: i }) => i === (partition ?? i))
      if (partitions.some(({ committedOffset }) => committedOffset >= offset)) return
      await sleep(50)
    }
  }

  /** The offset after the last record. @param {string} topic */
  async endOf (topic) {
    const partitions = [{ partitionIndex: 0, timestamp: -1n }]
    const [{ partitions: [{ offset }] }] = await this.admin.listOffsets({ topics: [{ name: topic, partitions }] })
    return offset
  }

  /** Deletes records before an offset, as retention does. @param {string} topic @param {bigint} offset */
  async deleteBefore (topic, offset) {
    await this.admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset }] }] })
  }

  /** The log of a topic as it is, while the broker does not run: it can be set back to that. @param {string} topic */
  async keep (topic) {
    const [log, kept] = [join(this.server.data, `${topic}-0`), join(this.server.folder, 'kept')]
    await cp(log, kept, { recursive: true })
    return {
      async restore () {
        await rm(log, { recursive: true })
        await cp(kept, log, { recursive: true })
      }
    }
  }

  /** @param {Partial<MemberOptions> & {group: string, topics: string[]|RegExp}} options */
  member (options) {
    return this.#open(new RecordingMember(this.cluster, options))
  }

  /**
   * @param {Partial<import('../../gateway/kafka/reader.js').ReaderOptions> & {topic: string}} options
   * @param {import('../../gateway/kafka/client.js').Cluster} [cluster]
   */
  reader (options, cluster = this.cluster) {
    /** What was read, since the last reset, and what else happened. @type {{values: string[], resets: number, isRead: boolean}} */
    const seen = { values: [], resets: 0, isRead: false }
    this.#open(new TopicReader(cluster, {
      onRecords: messages => { seen.values.push(...messages.map(({ value }) => String(value))) },
      onReset: () => {
        seen.resets++
        seen.isRead = false
        seen.values = []
      },
      onRead: () => { seen.isRead = true },
      onProblem: () => {},
      ...options
    }))
    return seen
  }

  /** @template {{close: () => Promise<void>}} T @param {T} opened */
  #open (opened) {
    this.#opened.push(opened)
    return opened
  }
}

/** A member that remembers what it has heard of, and commits what it has got. */
export class RecordingMember extends GroupMember {
  /** @type {{stream: Stream, value: string, offset: bigint}[]} */
  got = []
  /** What happened to streams, in order. @type {string[]} */
  told = []
  /** @type {(Error|null)[]} */
  problems = []

  /**
   * @param {import('../../gateway/kafka/client.js').Cluster} cluster
   * @param {Partial<MemberOptions> & {group: string, topics: string[]|RegExp}} options
   */
  constructor (cluster, options) {
    super(cluster, {
      sessionMs: 3000,
      ...options,
      onAssigned: async assigned => {
        const places = await options.onAssigned?.(assigned)
        for (const { stream, committed } of assigned) this.told.push(`assigned ${nameOf(stream)} at ${committed?.offset ?? 'first'}`)
        return places
      },
      onRevoked: async (streams, why) => {
        await options.onRevoked?.(streams, why)
        for (const stream of streams) this.told.push(`${why.isLost ? 'lost' : 'revoked'} ${nameOf(stream)}`)
      },
      onRecords: async (stream, messages, next) => {
        await options.onRecords?.(stream, messages, next)
        this.got.push(...messages.map(({ value, offset }) => ({ stream, value: String(value), offset })))
        this.commit(stream, next)
      },
      onGap: (stream, from, to) => { this.told.push(`gap ${nameOf(stream)} ${from} to ${to}`) },
      onProblem: problem => { this.problems.push(problem) }
    })
  }

  get values () { return this.got.map(({ value }) => value) }
}

/** @param {Stream} stream */
function nameOf ({ topic, partition }) {
  return `${topic}/${partition}`
}
