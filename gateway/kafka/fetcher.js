import { setTimeout as sleep } from 'node:timers/promises'
import { FetchIsolationLevels, ProtocolError } from '@platformatic/kafka'
import { backoff } from '../base/backoff.js'
import { describe } from '../base/errors.js'
import { committed } from './committed.js'
import { fetchApi } from './fetch.js'
import { boundsOf } from './offsets.js'

/**
 * Fetches streams and delivers what is in them: of each stream in order, and one delivery at a time. From each broker it asks for all
 * streams that it leads at once, and of each stream for one answer more than is being delivered.
 *
 * @typedef {import('./client.js').KafkaClient} KafkaClient
 * @typedef {import('./group.js').Stream} Stream
 * @typedef {import('./group.js').KafkaMessage} KafkaMessage
 *
 * @typedef {import('./record-batch.js').RecordBatch} RecordBatch
 *
 * @typedef {{offset: bigint, leaderEpoch?: number}} Place  `leaderEpoch` is that of the record before it, where it is known
 *
 * @typedef {object} Broken  a record batch that cannot be read
 * @property {bigint} first
 * @property {bigint} next  the offset behind it
 * @property {Buffer} bytes
 * @property {string} reason
 *
 * @typedef {object} Handlers  those that return promises are waited for; one that rejects is asked again
 * @property {() => boolean} [isCurrent]  whether what is there may be delivered now
 * @property {boolean} [areWhole]  what was written at once is delivered whole, also where reading begins amidst of it
 * @property {(stream: Stream) => Promise<void>} [hasRoom]  resolves when the next records may be read: they may take much more memory than
 *   what was fetched
 * @property {(stream: Stream, messages: KafkaMessage[], next: bigint) => Promise<void>|void} onRecords  those of one record batch
 * @property {(stream: Stream, broken: Broken) => Promise<void>|void} [onBroken]  otherwise it is as one that has no records
 * @property {(stream: Stream, from: bigint, to: bigint) => Promise<void>|void} onGap  deleted before it was fetched
 * @property {(stream: Stream, place: Place|null) => void} onCut  the log has lost its end, and goes on from there; null: nobody knows
 *   from where. The stream is no longer read
 * @property {(stream: Stream) => void} onMissing  its topic is gone, or another one
 * @property {(stream: Stream, end: bigint) => void} [onNothing]  the brokers say that they have nothing more before that offset
 * @property {(problem: unknown) => void} onProblem  null: it has passed
 * @property {number} [paceMs]  for streams that are never many and for which nobody waits: after some answers in a row, so long from each
 *   to the next
 *
 * @typedef {object} Position
 * @property {Stream} stream
 * @property {bigint} at  to be fetched next
 * @property {number} leaderEpoch  of what was fetched last
 * @property {bigint} suspect  where a record batch could not be read, and was fetched again
 * @property {{node: number, epoch: number}|null} leader
 * @property {number} waiting  answers that are being delivered, or will be
 * @property {Promise<void>} delivered
 * @property {boolean} isEnded
 */

const MAX_HELD_BYTES = 32 * 2 ** 20
const MAX_STREAM_BYTES = 2 ** 20
/** One that is being delivered, and the next. */
const MAX_WAITING = 2

const [NO_SESSION, OUTSIDE_SESSIONS] = [0, -1]
const UNKNOWN = -1
const NONE = 0

/** Of requests in which a stream is missing that waits for its deliveries, and of all others. */
const SHORT_WAIT_MS = 20
const LONG_WAIT_MS = 500
/** Of those that have a pace. */
const PACED_WAIT_MS = 15_000
const PACED_IN_A_ROW = 10

const PAUSE_MS = { first: 50, max: 2000, jitter: 0.2 }
const LOOK_AGAIN_MS = 20

const OFFSET_OUT_OF_RANGE = 1

export class Fetcher {
  #client
  #handlers
  /** @type {Map<Stream, Position>} */
  #positions = new Map()
  /** Brokers that are being asked. @type {Set<number>} */
  #asked = new Set()
  #isLocating = false
  #isClosed = false
  #heldBytes = 0
  #failures = 0
  /** When the next answer is due, at its pace. */
  #dueMs = 0

  /** @param {KafkaClient} client  for nothing else @param {Handlers} handlers */
  constructor (client, handlers) {
    this.#client = client
    this.#handlers = handlers
  }

  /** @param {Stream} stream @param {Place} place */
  add (stream, { offset, leaderEpoch = UNKNOWN }) {
    this.#positions.set(stream, {
      stream, at: offset, leaderEpoch, suspect: -1n, leader: null, waiting: 0, delivered: Promise.resolve(), isEnded: false
    })
    this.#fetchOn()
  }

  /** Nothing of it is delivered from now on. @param {Stream} stream */
  remove (stream) {
    const position = this.#positions.get(stream)
    if (!position) return
    position.isEnded = true
    this.#positions.delete(stream)
  }

  /** The client is its owner's to close. */
  close () {
    this.#isClosed = true
    for (const stream of this.#positions.keys()) this.remove(stream)
  }

  #fetchOn () {
    if (this.#isClosed || this.#heldBytes >= MAX_HELD_BYTES) return
    const ready = [...this.#positions.values()].filter(({ waiting }) => waiting < MAX_WAITING)
    if (!this.#isLocating && ready.some(({ leader }) => !leader)) this.#locate()
    const located = ready.filter(({ leader }) => leader)
    for (const [node, its] of Map.groupBy(located, ({ leader }) => /** @type {{node: number}} */ (leader).node)) {
      if (!this.#asked.has(node)) this.#ask(node, its)
    }
  }

  async #locate () {
    this.#isLocating = true
    await null // with all that are added in this turn: an answer may take as long as there is nothing new in those that were asked for
    try {
      const missing = [...this.#positions.values()].filter(({ leader }) => !leader)
      const topics = await this.#client.topics([...new Set(missing.map(({ stream }) => stream.topic))])
      for (const position of missing) this.#find(position, topics)
      if (missing.some(({ leader, isEnded }) => !leader && !isEnded)) await this.#pause()
    } catch (error) {
      await this.#failed(error)
    }
    this.#isLocating = false
    this.#fetchOn()
  }

  /** @param {Position} position @param {Map<string, import('./client.js').Topic>} topics */
  #find (position, topics) {
    const { stream } = position
    const topic = topics.get(stream.topic)
    const found = topic?.partitions[stream.partition]
    if (topic?.id !== stream.topicId || !found) {
      if (!position.isEnded) this.#handlers.onMissing(stream)
    } else if (found.leader !== UNKNOWN) position.leader = { node: found.leader, epoch: found.leaderEpoch }
  }

  /** @param {number} node @param {Position[]} positions */
  async #ask (node, positions) {
    this.#asked.add(node)
    try {
      const answer = await this.#client.ask(fetchApi, node, ...this.#request(node, positions))
        .catch(error => error.response?.responses ? error.response : Promise.reject(error))
      await this.#take(positions, answer)
      await this.#keepPace()
    } catch (error) {
      for (const position of positions) position.leader = null
      await this.#failed(error)
    }
    this.#asked.delete(node)
    this.#fetchOn()
  }

  /** @param {number} node @param {Position[]} positions */
  #request (node, positions) {
    const all = [...this.#positions.values()].filter(({ leader }) => leader?.node === node)
    const topics = Array.from(Map.groupBy(positions, ({ stream }) => stream.topicId), ([topicId, its]) => ({
      topicId,
      partitions: its.map(({ stream, at, suspect, leader, leaderEpoch }) => ({
        partition: stream.partition,
        currentLeaderEpoch: leader?.epoch,
        fetchOffset: at,
        lastFetchedEpoch: leaderEpoch,
        partitionMaxBytes: suspect === at ? MAX_HELD_BYTES : MAX_STREAM_BYTES // to see what follows
      }))
    }))
    const longWaitMs = this.#handlers.paceMs ? PACED_WAIT_MS : LONG_WAIT_MS
    const maxWaitMs = all.length > positions.length ? SHORT_WAIT_MS : longWaitMs
    const maxBytes = Math.max(MAX_STREAM_BYTES, MAX_HELD_BYTES - this.#heldBytes)
    return [maxWaitMs, 1, maxBytes, FetchIsolationLevels.READ_COMMITTED, NO_SESSION, OUTSIDE_SESSIONS, topics, [], '']
  }

  async #keepPace () {
    const { paceMs = 0 } = this.#handlers
    const nowMs = performance.now()
    this.#dueMs = Math.max(this.#dueMs, nowMs - PACED_IN_A_ROW * paceMs) + paceMs
    if (this.#dueMs > nowMs && !this.#isClosed) await sleep(this.#dueMs - nowMs, undefined, { ref: false })
  }

  /** @param {Position[]} positions @param {import('./fetch.js').Answer} answer */
  async #take (positions, { throttleTimeMs, responses }) {
    const answers = new Map(responses.flatMap(({ topicId, partitions }) => {
      return partitions.map(its => [`${topicId}/${its.partitionIndex}`, its])
    }))
    // Where none has any, no limit has kept something back.
    const areEmpty = throttleTimeMs === 0 && [...answers.values()].every(({ records }) => records.length === 0)
    const failed = new Set()
    for (const position of positions) {
      const its = answers.get(`${position.stream.topicId}/${position.stream.partition}`)
      if (!its || position.isEnded) continue
      try {
        if (its.errorCode === OFFSET_OUT_OF_RANGE) await this.#takeOutOfRange(position)
        else if (its.errorCode === NONE) this.#takeRecords(position, its)
        else throw new ProtocolError(its.errorCode)
      } catch (error) {
        position.leader = null
        failed.add(error)
      }
    }
    const [error] = failed
    if (error !== undefined) return this.#failed(error)
    this.#succeeded()
    if (areEmpty) await this.#takeNothing(positions, answers)
  }

  /**
   * What was there has been compacted away. Brokers may not know better where old records are kept elsewhere, so reading stays where it is.
   * @param {Position[]} positions @param {Map<string, import('./fetch.js').Fetched>} answers
   */
  async #takeNothing (positions, answers) {
    let isBehind = false
    for (const { at, stream, delivered } of positions) {
      const end = answers.get(`${stream.topicId}/${stream.partition}`)?.lastStableOffset ?? at
      if (end <= at) continue
      isBehind = true
      delivered.then(() => this.#handlers.onNothing?.(stream, end))
    }
    if (isBehind) await sleep(LONG_WAIT_MS, undefined, { ref: false }) // they do not wait
  }

  /** @param {Position} position @param {import('./fetch.js').Fetched} answer */
  #takeRecords (position, answer) {
    const { divergingEpoch, lastStableOffset, records } = answer
    if (divergingEpoch.epoch !== UNKNOWN) {
      const offset = divergingEpoch.endOffset < position.at ? divergingEpoch.endOffset : position.at
      return this.#cut(position, { offset, leaderEpoch: divergingEpoch.epoch })
    }
    const from = this.#handlers.areWhole ? -1n : position.at
    const batches = [...committed(answer)]
    const works = []
    for (const [i, { batch, messages }] of batches.entries()) {
      const next = batch.isSound ? batch.next : this.#nextOf(position, batch, batches[i + 1]?.batch.first ?? lastStableOffset)
      if (next === null) break
      if (next <= position.at) continue
      works.push(() => this.#read(position, batch, { next, messages, from }))
      position.at = next
      if (batch.isSound) position.leaderEpoch = batch.leaderEpoch
    }
    if (works.length > 0) this.#deliver(position, records.length, works)
  }

  /**
   * The offset behind a batch that is damaged; null: it is fetched again before that is believed.
   * @param {Position} position @param {RecordBatch} batch
   * @param {bigint} following  offset of the batch behind it, or of what has not been written yet
   */
  #nextOf (position, { first, next }, following) {
    if (position.suspect !== first) {
      position.suspect = first
      return null
    }
    if (next > first && next <= following) return next
    throw new Error(`The record batch at offset ${first} is damaged, and it is not known where the next one begins.`)
  }

  /**
   * @param {Position} position @param {RecordBatch} batch
   * @param {{next: bigint, messages: () => KafkaMessage[], from: bigint}} its
   */
  async #read (position, batch, { next, messages, from }) {
    const { hasRoom, onRecords, onBroken } = this.#handlers
    const { stream } = position
    await hasRoom?.(stream)
    if (position.isEnded) return
    /** @type {KafkaMessage[]} */
    let its = []
    try {
      its = messages()
    } catch (error) {
      const { first, bytes } = batch
      if (onBroken) return onBroken(stream, { first, next, bytes, reason: describe(error) })
    }
    await onRecords(stream, from <= batch.first ? its : its.filter(({ offset }) => offset >= from), next)
  }

  /** @param {Position} position */
  async #takeOutOfRange (position) {
    const { stream, at, leader } = position
    const { first, end } = /** @type {any} */ ((await boundsOf(this.#client, [stream], () => leader?.node)).get(stream))
    if (at > end) return this.#cut(position, null)
    if (at >= first) return
    Object.assign(position, { at: first, leaderEpoch: UNKNOWN })
    this.#deliver(position, 0, [async () => this.#handlers.onGap(stream, at, first)])
  }

  /** @param {Position} position @param {Place|null} place */
  #cut ({ stream }, place) {
    this.remove(stream)
    this.#handlers.onCut(stream, place)
  }

  /** @param {Position} position @param {number} bytes @param {(() => Promise<void>)[]} works */
  #deliver (position, bytes, works) {
    position.waiting++
    this.#heldBytes += bytes
    position.delivered = position.delivered.then(async () => {
      for (const work of works) await this.#delivered(position, work)
      position.waiting--
      this.#heldBytes -= bytes
      this.#fetchOn()
    })
  }

  /** @param {Position} position @param {() => Promise<void>} work */
  async #delivered (position, work) {
    for (let failures = 0; !position.isEnded;) {
      try {
        if (this.#handlers.isCurrent?.() ?? true) {
          await work()
          if (failures > 0) this.#handlers.onProblem(null)
          return
        }
        await sleep(LOOK_AGAIN_MS)
      } catch (error) {
        this.#handlers.onProblem(error)
        await sleep(backoff(failures++, PAUSE_MS))
      }
    }
  }

  #succeeded () {
    if (this.#failures === 0) return
    this.#failures = 0
    this.#handlers.onProblem(null)
  }

  /** @param {unknown} error */
  async #failed (error) {
    if (this.#isClosed) return
    this.#client.forget()
    this.#handlers.onProblem(error)
    await this.#pause()
  }

  async #pause () {
    await sleep(backoff(this.#failures++, PAUSE_MS), undefined, { ref: false })
  }
}
