import { isDeepStrictEqual } from 'node:util'
import { FetchIsolationLevels, ProtocolError } from '@platformatic/kafka'
import { RECORD_NUMBERS, streamKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { RecordSet } from '../record-set.js'
import { isAnswer } from '../../kafka/client.js'
import { committed } from '../../kafka/committed.js'
import { fetchApi } from '../../kafka/fetch.js'
import { boundsOf } from '../../kafka/offsets.js'

/**
 * The commit records: a compacted topic of one partition, whose newest record of a key counts. It is read once, and from then on only what
 * has been added: each request names the topic's id and the epoch of its leader, so that a topic that was created again, or cut off where
 * another broker took over, is noticed, and read from its beginning. So it is after a connection was lost: brokers may have been set back.
 *
 * A key names the writer, too. Nothing keeps writers from merging records at the same time, so that each merges only its own.
 *
 * @typedef {import('../../kafka/client.js').KafkaClient} KafkaClient
 * @typedef {import('../commit-records.js').CommitRow & {writer: string}} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../../kafka/produce.js').KafkaRecord & {value: Buffer|null}} CommitRecord
 * @typedef {{id: string, leader: number, leaderEpoch: number, at: bigint, disconnects: number}} Position
 */

const PARTITION = 0
const [NO_SESSION, OUTSIDE_SESSIONS] = [0, -1]
const MAX_BYTES = 16 * 2 ** 20
const WAIT_MS = 200

/** Of others that were killed, transactions are ended after half of it. */
const PATIENCE_MS = 60_000

const CHANGED = [
  'UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID', 'UNKNOWN_TOPIC_OR_PARTITION', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH',
  'NOT_LEADER_OR_FOLLOWER', 'OFFSET_OUT_OF_RANGE'
]

export class CommitLog {
  #client
  #writer
  /** @type {Position|null} */
  #position = null
  /** @type {Map<string, CommitRow>} */
  #rows = new Map()
  /** @type {RecordSet|null} */
  #held = null

  /** @param {KafkaClient} client @param {string} writer */
  constructor (client, writer) {
    this.#client = client
    this.#writer = writer
  }

  get rows () { return [...this.#rows.values()] }

  get ownRows () { return this.rows.filter(({ writer }) => writer === this.#writer) }

  /** Another one has another. */
  get topicId () { return this.#position?.id ?? '' }

  /** The record that holds a batch's identity. @param {Claim} claim */
  find (claim) {
    if (!this.#held) {
      this.#held = new RecordSet()
      for (const row of this.#rows.values()) this.#held.add(row)
    }
    return this.#held.find(claim)
  }

  /** Where it is missing. @returns {Promise<Map<string, string>>} its configuration */
  async prepare () {
    await this.#client.ensureTopic(COMMITS_TABLE, { partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    return this.#client.configsOf(COMMITS_TABLE, ['cleanup.policy', 'max.message.bytes'])
  }

  /** All that was written before it began, by whomever, and has been committed. */
  async read () {
    try {
      await this.#readOn()
    } catch (error) {
      this.#position = null
      throw error
    }
  }

  /** What has been added, where it is the same topic as before; all of it where it is not. */
  async check () {
    try {
      if (this.#position?.disconnects !== this.#client.disconnects) return await this.read()
      await this.#fetch(0)
    } catch (error) {
      this.#position = null
      if (!isAnswer(error, ...CHANGED)) throw error
      await this.read()
    }
  }

  /** @param {import('../commit-records.js').CommitRow} row @returns {CommitRecord} */
  recordOf (row) {
    const numbers = Object.fromEntries(NUMBERS.map(name => [name, row[name]]))
    return { ...this.#forgotten(row), value: Buffer.from(JSON.stringify(numbers)) }
  }

  /** One that takes the place of own ones within it. @param {import('../commit-records.js').CommitRow} merged @returns {CommitRecord[]} */
  mergedRecords (merged) {
    const stream = streamKey(merged)
    const within = this.ownRows.filter(row => row.seq > merged.seq && row.last <= merged.last && streamKey(row) === stream)
    return [this.recordOf(merged), ...within.map(row => this.#forgotten(row))]
  }

  /** What was committed is known before it can be read. @param {CommitRecord[]} records */
  add (records) {
    for (const { key, value } of records) this.#apply(key, value)
  }

  async #readOn () {
    const end = performance.now() + PATIENCE_MS
    const { disconnects } = this.#client
    const topic = await this.#client.topic(COMMITS_TABLE, { isFresh: true })
    if (!topic) throw new ProtocolError('UNKNOWN_TOPIC_OR_PARTITION')
    const { leader, leaderEpoch } = topic.partitions[PARTITION]
    const found = { id: topic.id, leader, leaderEpoch, disconnects }
    if (!isDeepStrictEqual({ ...this.#position, at: 0n }, { ...found, at: 0n })) this.#begin({ ...found, at: 0n })
    const until = await this.#end(leader)
    for (let waitMs = 0; ; waitMs = WAIT_MS) {
      const { highWatermark, isEmpty, at } = await this.#fetch(waitMs)
      if (at >= until || (isEmpty && highWatermark >= until)) return
      if (performance.now() > end) throw new Error(`others hold ${COMMITS_TABLE} up with a transaction that they do not end`)
    }
  }

  /**
   * The offset after all that was written. Where all brokers died, a new leader gives out less until it has heard of the others, and then
   * does not answer this.
   * @param {number} leader
   */
  async #end (leader) {
    const places = [{ topic: COMMITS_TABLE, partition: PARTITION }]
    const bounds = await boundsOf(this.#client, places, () => leader, FetchIsolationLevels.READ_UNCOMMITTED)
    return [...bounds.values()][0].end
  }

  /** @param {Position} position */
  #begin (position) {
    this.#position = position
    this.#rows.clear()
    this.#held = null
  }

  /** @param {number} maxWaitMs */
  async #fetch (maxWaitMs) {
    const position = /** @type {Position} */ (this.#position)
    const { throttleTimeMs, responses: [{ partitions: [found] }] } = await this.#ask(maxWaitMs).catch(error => {
      // Its oldest records were deleted.
      const start = error.response?.responses[0]?.partitions[0]?.logStartOffset ?? 0n
      if (!isAnswer(error, 'OFFSET_OUT_OF_RANGE') || position.at > 0n || start <= 0n) throw error
      position.at = start
      return this.#ask(maxWaitMs)
    })
    for (const { batch, messages } of committed(found)) {
      if (batch.next <= position.at) continue
      for (const { offset, key, value } of messages()) {
        if (offset >= position.at && key) this.#apply(key, value)
      }
      position.at = batch.next
    }
    const { highWatermark, lastStableOffset } = found
    // Nothing is left where the last records were compacted away.
    const isEmpty = found.records.length === 0 && throttleTimeMs === 0 && lastStableOffset >= highWatermark
    return { highWatermark, isEmpty, at: position.at }
  }

  /** @param {number} maxWaitMs */
  #ask (maxWaitMs) {
    const { id, leader, leaderEpoch, at } = /** @type {Position} */ (this.#position)
    const partition = { partition: PARTITION, currentLeaderEpoch: leaderEpoch, fetchOffset: at, lastFetchedEpoch: -1 }
    const topics = [{ topicId: id, partitions: [{ ...partition, partitionMaxBytes: MAX_BYTES }] }]
    return this.#client.ask(
      fetchApi, leader, maxWaitMs, 1, MAX_BYTES, FetchIsolationLevels.READ_COMMITTED, NO_SESSION, OUTSIDE_SESSIONS, topics, [], ''
    )
  }

  /** @param {Claim} claim @returns {CommitRecord} */
  #forgotten ({ table, gateway, source, epoch, seq }) {
    const key = Buffer.from(JSON.stringify([table, gateway, source, epoch, seq, this.#writer]))
    return { topic: COMMITS_TABLE, partition: PARTITION, key, value: null, headers: new Map() }
  }

  /** @param {Buffer} key @param {Buffer|null} value */
  #apply (key, value) {
    const name = key.toString()
    if (value === null || value.length === 0) {
      if (this.#rows.delete(name)) this.#held = null
      return
    }
    const row = rowOf(name, value)
    if (!row) return
    this.#rows.set(name, row)
    this.#held?.add(row)
  }
}

const [, ...NUMBERS] = RECORD_NUMBERS

/** Undefined of what is none of ours. @param {string} key @param {Buffer} value @returns {CommitRow|undefined} */
function rowOf (key, value) {
  try {
    const [table, gateway, source, epoch, seq, writer] = JSON.parse(key)
    const row = { table, gateway, source, epoch, seq, writer, ...JSON.parse(value.toString()) }
    return NUMBERS.every(name => Number.isSafeInteger(row[name])) ? row : undefined
  } catch {
    return undefined
  }
}
