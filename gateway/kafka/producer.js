import { setTimeout as sleep } from 'node:timers/promises'
import {
  addPartitionsToTxnV3, endTxnV3, FindCoordinatorKeyTypes, findCoordinatorV4, initProducerIdV4
} from '@platformatic/kafka'
import { isAnswer, isAnswered } from './client.js'
import { NO_TIME, produceApi, sizeOf, UNTIMELY, written } from './produce.js'

/**
 * Writes in transactions, under a transactional id: who opens it last has it, and what others had under way is ended.
 *
 * The library's own producer has transactions, too, but asks for an id as if it had had it before, which a broker refuses after a restart;
 * speaks to the coordinator in a version that is for brokers only, which access lists refuse; and sends one request at a time.
 *
 * @typedef {import('./client.js').KafkaClient} KafkaClient
 * @typedef {import('./produce.js').KafkaRecord} KafkaRecord
 * @typedef {{producerId: bigint, producerEpoch: number, coordinator: number, sequences: Map<string, number>}} Incarnation
 */

/** The coordinator ends what is older. A writer that was killed holds up others that read what is committed for so long. */
const TRANSACTION_MS = 30_000

/** The coordinator is still ending the transaction before. */
const CONCURRENT = 'CONCURRENT_TRANSACTIONS'
const PAUSE_MS = 2
const PATIENCE_MS = 20_000

/** Requests under way: a broker keeps the order of no more. */
const IN_FLIGHT = 5

/** What is larger is not kept to be written into again. */
const MAX_KEPT_BYTES = 2 ** 21

const FENCED = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING', 'INVALID_TXN_STATE']
const MAX_SEQUENCE = 2 ** 31

/** Whether another has opened the transactional id, or the coordinator has given it up. @param {unknown} error */
export function isFenced (error) {
  return isAnswer(error, ...FENCED)
}

export class TransactionalProducer {
  #client
  #id
  #compression
  /** @type {Incarnation|null} */
  #incarnation = null
  /** Partitions of the transaction that is under way. @type {Set<string>} */
  #partitions = new Set()
  /** Once the coordinator has been told of the partitions of all that was sent. @type {Promise<unknown>} */
  #added = Promise.resolve()
  /** @type {Set<Promise<unknown>>} */
  #requests = new Set()
  /** What its records have; when they are sent, unless brokers refuse that. @type {bigint|undefined} */
  #time
  /** That requests were written into, and the brokers have answered. @type {Buffer[]} */
  #memory = []

  /** @param {KafkaClient} client @param {string} id @param {import('./produce.js').Compression} compression */
  constructor (client, id, compression) {
    this.#client = client
    this.#id = id
    this.#compression = compression
  }

  get isOpen () { return this.#incarnation !== null }

  /** Once it resolves, nothing is under way that an earlier opening has begun. */
  async open () {
    const { coordinators: [{ nodeId: coordinator }] } =
      await this.#client.ask(findCoordinatorV4.api, -1, FindCoordinatorKeyTypes.TRANSACTION, [this.#id])
    const { producerId, producerEpoch } = await patiently(() => {
      return this.#client.ask(initProducerIdV4.api, coordinator, this.#id, TRANSACTION_MS, -1n, -1)
    })
    this.#partitions.clear()
    this.#incarnation = { producerId, producerEpoch, coordinator, sequences: new Map() }
  }

  /**
   * Resolves once there is room for more; `end` waits for the rest.
   * @param {KafkaRecord[]} records  no more of a partition than it takes at a time
   */
  async send (records) {
    const places = Array.from(Map.groupBy(records, placeOf), ([place, its]) => ({ place, its, size: sizeOf(its) }))
    // Records are written while the coordinator is told of their partitions.
    const added = this.#added = this.#underWay(this.#added.then(() => this.#add(records)))
    const memory = this.#memoryOf(places.reduce((sum, { size }) => sum + size, 0))
    let at = 0
    const batches = await Promise.all(places.map(async ({ place, its, size }) => {
      const [{ topic, partition }] = its
      const origin = this.#originOf(place, its.length)
      const bytes = await written(its, memory.subarray(at, at += size), origin, this.#compression, this.#time)
      return { topic, partition, bytes, leader: await this.#leaderOf(its[0]) }
    }))
    const requests = Array.from(Map.groupBy(batches, ({ leader }) => leader), ([leader, its]) => {
      return this.#underWay(added.then(() => this.#client.ask(produceApi, leader, this.#id, PATIENCE_MS, its)))
    })
    Promise.all(requests).then(() => { if (memory.length <= MAX_KEPT_BYTES) this.#memory.push(memory) }, () => {})
    while (this.#requests.size >= IN_FLIGHT) await Promise.race(this.#requests)
  }

  /** All that was sent, or nothing. @param {boolean} isCommitted */
  async end (isCommitted) {
    await Promise.all(this.#requests)
    if (this.#partitions.size === 0) return
    const { producerId, producerEpoch, coordinator } = this.#its
    await this.#client.ask(endTxnV3.api, coordinator, this.#id, producerId, producerEpoch, isCommitted)
    this.#partitions.clear()
  }

  /** What is under way is undone: now, where the coordinator can be told, or when the id is opened again. @param {unknown} error */
  async giveUp (error) {
    const incarnation = this.#incarnation
    await Promise.allSettled(this.#requests)
    const isUnderWay = this.#partitions.size > 0
    this.#incarnation = null
    this.#time = isAnswer(error, UNTIMELY) ? NO_TIME : undefined
    this.#partitions.clear()
    this.#requests.clear()
    this.#added = Promise.resolve()
    this.#client.forget()
    if (!incarnation || !isUnderWay || !isAnswered(error) || isFenced(error)) return
    const { producerId, producerEpoch, coordinator } = incarnation
    await this.#client.ask(endTxnV3.api, coordinator, this.#id, producerId, producerEpoch, false).catch(() => {})
  }

  get #its () {
    return /** @type {Incarnation} */ (this.#incarnation)
  }

  /** @param {string} place @param {number} count  of records */
  #originOf (place, count) {
    const { producerId, producerEpoch, sequences } = this.#its
    const sequence = sequences.get(place) ?? 0
    sequences.set(place, (sequence + count) % MAX_SEQUENCE)
    return { producerId, producerEpoch, sequence }
  }

  /** @param {number} bytes */
  #memoryOf (bytes) {
    const kept = this.#memory.pop()
    return kept && kept.length >= bytes ? kept : Buffer.allocUnsafeSlow(bytes)
  }

  /** A failed one stays: whoever waits next learns of it. @template T @param {Promise<T>} request */
  #underWay (request) {
    this.#requests.add(request)
    request.then(() => this.#requests.delete(request), () => {})
    return request
  }

  /** Those that it does not have yet. @param {KafkaRecord[]} records */
  async #add (records) {
    const added = new Map(records.filter(record => !this.#partitions.has(placeOf(record))).map(record => [placeOf(record), record]))
    if (added.size === 0) return
    const { producerId, producerEpoch, coordinator } = this.#its
    const topics = Array.from(Map.groupBy(added.values(), ({ topic }) => topic), ([name, its]) => {
      return { name, partitions: its.map(({ partition }) => partition) }
    })
    const wanted = [{ transactionalId: this.#id, producerId, producerEpoch, topics, verifyOnly: false }]
    await patiently(() => this.#client.ask(addPartitionsToTxnV3.api, coordinator, wanted))
    for (const place of added.keys()) this.#partitions.add(place)
  }

  /** @param {KafkaRecord} record */
  async #leaderOf ({ topic, partition }) {
    const found = await this.#client.topic(topic)
    return found?.partitions[partition]?.leader ?? -1
  }
}

/** As the library names them. @param {KafkaRecord} record */
function placeOf ({ topic, partition }) {
  return `${topic}:${partition}`
}

/** While the coordinator is ending the transaction before. @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
async function patiently (ask) {
  const end = performance.now() + PATIENCE_MS
  while (true) {
    try {
      return await ask()
    } catch (error) {
      if (!isAnswer(error, CONCURRENT) || performance.now() > end) throw error
      await sleep(PAUSE_MS)
    }
  }
}
