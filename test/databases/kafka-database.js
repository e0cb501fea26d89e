import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, fetchV13, FetchIsolationLevels, Producer } from '@platformatic/kafka'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { connect } from '../../gateway/databases/kafka/connection.js'
import { dialect, topicName } from '../../gateway/databases/kafka/dialect.js'
import { open } from '../../gateway/databases/kafka/sink.js'
import { constantOf, valuesOf, wideColumns } from '../../gateway/databases/wide.js'
import { missingKafka, startKafka } from '../servers/kafka.js'
import { requireServer } from '../servers/programs.js'

/**
 * A Kafka for a suite, whose topics go after each test, and what is committed in it.
 *
 * @typedef {{key: string, value: Buffer|null, partition: number, headers: [Buffer|null, Buffer|null][]}} Found
 */

const IS_TRANSACTIONAL = 0x10
const IS_CONTROL = 0x20
const COMMIT = 1
const BYTES = ['bytes', 'noBytes', 'blob', 'value_bytes']
const NOT_NUMBERS = ['NaN', 'Infinity', '-Infinity']

export class KafkaDatabase {
  /** @type {import('../servers/kafka.js').KafkaServer} */
  server = /** @type {any} */ (null)
  /** @type {Admin} */
  admin = /** @type {any} */ (null)
  /** @type {{close: () => Promise<void>}[]} */
  #opened = []

  /** Call it within `describe`. @param {object} [options]  of the server */
  static inSuite (options) {
    const database = new KafkaDatabase()
    before(async function () {
      this.timeout(120_000)
      requireServer(this, 'kafka', missingKafka())
      database.server = await startKafka(options)
      await database.reconnect()
    })
    afterEach(async () => {
      for (const each of database.#opened.splice(0)) await each.close()
      await database.clear()
    })
    after(async function () {
      this.timeout(60_000)
      await database.admin?.close()
      await database.server?.remove()
    })
    return database
  }

  reconnect = async () => {
    const { port, user, password } = this.server
    await this.admin?.close()
    this.admin = new Admin({
      clientId: 'test',
      bootstrapBrokers: [`127.0.0.1:${port}`],
      retryDelay: 100,
      retries: 50,
      metadataMaxAge: 0,
      ...user && { sasl: { mechanism: 'SCRAM-SHA-512', username: user, password } }
    })
  }

  /** @param {object} [options]  of the server */
  connect = (options = {}) => connect({ port: this.server.port, ...options })

  /** @param {object} [options]  of the sink and of the server */
  openSink = async (options = {}) => {
    const sink = await open(/** @type {any} */ (options), { server: this.connect(options) })
    this.#opened.unshift(sink)
    return sink
  }

  /** Those that are not Kafka's own. */
  topics = async () => (await this.admin.listTopics()).filter(name => !name.startsWith('__')).sort()

  clear = async () => {
    const topics = await this.topics()
    if (topics.length > 0) await this.admin.deleteTopics({ topics })
  }

  /** The records of a topic that a reader of what is committed sees. @param {string} topic @returns {Promise<Found[]>} */
  committed = topic => this.#patiently(() => this.#committed(topic))

  /** @param {string} topic */
  async #committed (topic) {
    const { brokers, topics } = await this.admin.metadata({ topics: [topic], forceUpdate: true })
    const { id, partitions } = /** @type {any} */ (topics.get(topic))
    const connection = await this.admin.connections.get(/** @type {any} */ (brokers.values().next().value))
    const all = []
    for (const partition of partitions.keys()) {
      let fetchOffset = 0n
      /** Of each producer, what its transaction has. @type {Map<bigint, Found[]>} */
      const underWay = new Map()
      for (;;) {
        const wanted = { partition, currentLeaderEpoch: -1, fetchOffset, lastFetchedEpoch: -1, partitionMaxBytes: 2 ** 24 }
        const { responses: [{ partitions: [{ records, highWatermark }] }] } = await fetchV13.api.async(
          connection, 100, 1, 2 ** 24, FetchIsolationLevels.READ_UNCOMMITTED, 0, -1, [{ topicId: id, partitions: [wanted] }], [], '')
        for (const { attributes, producerId, firstOffset, lastOffsetDelta, records: its } of records ?? []) {
          const found = its.map(({ key, value, headers }) => ({ key: String(key), value, partition, headers }))
          if (attributes & IS_CONTROL) {
            if (its[0].key?.readInt16BE(2) === COMMIT) all.push(...underWay.get(producerId) ?? [])
            underWay.delete(producerId)
          } else if (attributes & IS_TRANSACTIONAL) underWay.set(producerId, [...underWay.get(producerId) ?? [], ...found])
          else all.push(...found)
          fetchOffset = firstOffset + BigInt(lastOffsetDelta) + 1n
        }
        // What is committed is so a moment before its records of control are there.
        if (fetchOffset >= highWatermark && underWay.size === 0) break
      }
    }
    return all
  }

  /**
   * Topics as they were some time ago: created again, with what was in them of batches before this one.
   * @param {number} seq
   */
  setBack = async seq => {
    const kept = []
    for (const topic of await this.topics()) {
      const isKept = (/** @type {Found} */ { key, value }) => {
        if (topic === 'sluice_commits') return JSON.parse(key)[4] < seq
        return this.#rowsIn(/** @type {Buffer} */ (value), topic).every(({ force }) => force < seq)
      }
      const found = await this.committed(topic)
      await this.admin.deleteTopics({ topics: [topic] })
      await this.admin.createTopics({
        topics: [topic],
        partitions: 1,
        replicas: 1,
        configs: topic === 'sluice_commits' ? [{ name: 'cleanup.policy', value: 'compact' }] : []
      })
      kept.push(...found.filter(isKept).map(({ key, value }) => ({ topic, partition: 0, key: Buffer.from(key), value })))
    }
    await this.produce(kept)
  }

  /** @param {{topic: string, partition?: number, key: Buffer, value: Buffer|null}[]} messages */
  produce = async messages => {
    if (messages.length === 0) return
    const producer = new Producer({ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${this.server.port}`], retryDelay: 50, retries: 100 })
    await producer.send({ messages: /** @type {any} */ (messages), acks: -1 })
    await producer.close()
  }

  /** A broker hosts a topic a moment after it has been created. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  async #patiently (work) {
    for (let attempts = 1; ; attempts++) {
      try {
        return await work()
      } catch (error) {
        if (attempts === 100) throw error
        await sleep(50)
      }
    }
  }

  /** @param {Buffer} value @param {string} topic @returns {Record<string, any>[]} */
  #rowsIn (value, topic) {
    return value[0] === 0x7b ? [jsonRow(value)] : arrowRows(value, topic)
  }

  /** As the contract has them. @param {string} table @returns {Promise<Record<string, any>[]>} */
  rows = async table => {
    const topic = topicName(table)
    if (!(await this.topics()).includes(topic)) return []
    const values = (await this.committed(topic)).map(({ value }) => /** @type {Buffer} */ (value))
    const rows = values.flatMap(value => this.#rowsIn(value, topic))
    const names = [...new Set(rows.flatMap(Object.keys))]
    return rows.map(row => ({ ...Object.fromEntries(names.map(name => [name, null])), ...row })).sort((a, b) => Number(a.time - b.time))
  }
}

/** @param {Buffer} value */
function jsonRow (value) {
  const reviver = /** @type {any} */ ((/** @type {string} */ name, /** @type {any} */ its, /** @type {{source: string}} */ { source }) => {
    if (name === 'time') return nanoseconds(its)
    if (BYTES.includes(name)) return `0x${Buffer.from(its, 'base64').toString('hex')}`
    if (NOT_NUMBERS.includes(its)) return Number(its)
    if (typeof its === 'boolean') return Number(its)
    return typeof its === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(its) ? BigInt(source) : its
  })
  return JSON.parse(value.toString(), reviver)
}

/** @param {string} iso  with nine decimals */
function nanoseconds (iso) {
  return BigInt(Date.parse(`${iso.slice(0, 19)}Z`)) * 1_000_000n + BigInt(iso.slice(20, 29))
}

/** @param {Buffer} value @param {string} topic */
function arrowRows (value, topic) {
  const batch = decode(value)
  const columns = wideColumns(batch, dialect, topicName(batch.source) !== topic)
  return Array.from(batch.time, (time, row) => {
    const cells = columns.slice(1).map(column => [column.name, cellOf(column, batch, row)])
    return { time, ...Object.fromEntries(cells.filter(([, cell]) => cell !== undefined)) }
  })
}

/** @param {import('../../gateway/databases/wide.js').WideColumn} column @param {any} batch @param {number} row */
function cellOf (column, batch, row) {
  const constant = constantOf(column, batch)
  if (constant !== undefined) return constant
  const { values, valid } = valuesOf(column, batch)
  if (valid && valid[row] === 0) return undefined
  const value = /** @type {any} */ (values)[row]
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : value
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : value
}
