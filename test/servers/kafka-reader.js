import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, fetchV13, FetchIsolationLevels, Producer } from '@platformatic/kafka'

/**
 * What is in a Kafka, as a reader of what is committed sees it: by the marks that transactions end with, and nothing of the sink's own.
 *
 * @typedef {{key: string, value: Buffer|null, partition: number, headers: [Buffer|null, Buffer|null][]}} Found
 */

const IS_TRANSACTIONAL = 0x10
const IS_CONTROL = 0x20
const COMMIT = 1
const BYTES = ['bytes', 'noBytes', 'blob', 'value_bytes']
const NOT_NUMBERS = ['NaN', 'Infinity', '-Infinity']

export class KafkaReader {
  #port

  /** @param {{port: number}} server */
  constructor ({ port }) {
    this.#port = port
    this.admin = new Admin({
      clientId: 'test', bootstrapBrokers: [`127.0.0.1:${port}`], retryDelay: 100, retries: 50, metadataMaxAge: 0
    })
  }

  /** Those that are not Kafka's own. */
  async topics () {
    return (await this.admin.listTopics()).filter(name => !name.startsWith('__')).sort()
  }

  /** All but Kafka's own. */
  async clear () {
    const topics = await this.topics()
    if (topics.length > 0) await this.admin.deleteTopics({ topics })
    while ((await this.topics()).length > 0) await sleep(20) // the broker hears of it a moment later
  }

  /** The records of a topic that a reader of what is committed sees. @param {string} topic @returns {Promise<Found[]>} */
  committed (topic) {
    return this.#patiently(() => this.#committed(topic))
  }

  /** @param {{topic: string, partition?: number, key: Buffer, value: Buffer|null}[]} messages */
  async produce (messages) {
    if (messages.length === 0) return
    const producer = new Producer({ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${this.#port}`], retryDelay: 50, retries: 100 })
    await producer.send({ messages: /** @type {any} */ (messages), acks: -1 })
    await producer.close()
  }

  async close () {
    await this.admin.close()
  }

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
}

/**
 * What a row has, as contracts have it: bytes in hexadecimal, booleans as 0 and 1.
 * @param {Buffer|string} value
 * @returns {Record<string, any>}
 */
export function jsonRow (value) {
  const reviver = /** @type {any} */ ((/** @type {string} */ name, /** @type {any} */ its, /** @type {{source: string}} */ { source }) => {
    if (name === 'time') return nanoseconds(its)
    if (BYTES.includes(name)) return `0x${Buffer.from(its, 'base64').toString('hex')}`
    if (NOT_NUMBERS.includes(its)) return Number(its)
    if (typeof its === 'boolean') return Number(its)
    return typeof its === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(its) ? BigInt(source) : its
  })
  return JSON.parse(String(value), reviver)
}

/** @param {string} iso  with nine decimals */
function nanoseconds (iso) {
  return BigInt(Date.parse(`${iso.slice(0, 19)}Z`)) * 1_000_000n + BigInt(iso.slice(20, 29))
}
