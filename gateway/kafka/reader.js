import { setTimeout as sleep } from 'node:timers/promises'
import { retryWhile } from '../base/backoff.js'
import { Fetcher } from './fetcher.js'
import { boundsOf } from './offsets.js'

/**
 * Reads all of a topic, from its beginning and on, and without a group: everybody who does gets everything.
 *
 * @typedef {import('./fetcher.js').KafkaMessage} KafkaMessage
 * @typedef {import('./group.js').Stream} Stream
 * @typedef {import('./client.js').Topic} Topic
 *
 * @typedef {object} ReaderOptions
 * @property {string} topic  it may be missing, and come later
 * @property {(count: number) => number[]} [partitions]  those that are wanted of so many; all of them otherwise
 * @property {boolean} [isLate]  what was there before it is not wanted
 * @property {number} [paceMs]  see Fetcher
 * @property {() => void} [onReset]  what was read does not count: the topic is another one now, or has lost its end. It is read again
 * @property {(messages: KafkaMessage[], partition: number) => Promise<void>|void} onRecords  one call at a time for each partition
 * @property {() => void} [onRead]  all that was in the topic when reading began, or began again, has been read
 * @property {(problem: Error|null) => void} onProblem
 */

/** How often it looks for a topic that is missing, and whether one that is there has more partitions. */
const LOOK_MS = 5000
const LOOK_AGAIN_MS = 30_000

export class TopicReader {
  #options
  #client
  #fetcher
  #closing = new AbortController()
  #ended
  #topicId = ''
  /** By partition. @type {Map<number, Stream>} */
  #streams = new Map()
  /** Where those end that have not been read yet. @type {Map<Stream, bigint>} */
  #ends = new Map()
  #isBeginning = false
  /** @type {() => void} */
  #wake = () => {}

  /** It begins at once. @param {import('./client.js').Cluster} cluster @param {ReaderOptions} options */
  constructor (cluster, options) {
    this.#options = options
    this.#client = cluster.client()
    this.#fetcher = new Fetcher(this.#client, {
      paceMs: options.paceMs,
      onRecords: async (stream, messages, next) => {
        if (messages.length > 0) await options.onRecords(messages, stream.partition)
        this.#reached(stream, next)
      },
      onGap: (stream, _from, to) => this.#reached(stream, to),
      onNothing: (stream, end) => this.#reached(stream, end),
      onCut: () => this.#reset(),
      onMissing: () => this.#wake(),
      onProblem: problem => this.#tell(problem)
    })
    this.#ended = this.#run()
  }

  async close () {
    this.#closing.abort()
    this.#wake()
    this.#fetcher.close()
    await this.#client.close()
    await this.#ended
  }

  async #run () {
    const isOpen = () => !this.#closing.signal.aborted
    while (isOpen()) {
      let hasFailed = false
      await retryWhile(isOpen, () => this.#look(), error => {
        hasFailed = true
        this.#client.forget()
        this.#tell(error)
      })
      if (hasFailed) this.#tell(null)
      const woken = new Promise(resolve => { this.#wake = () => resolve(undefined) })
      if (isOpen()) await Promise.race([sleep(this.#topicId === '' ? LOOK_MS : LOOK_AGAIN_MS, undefined, { ref: false }), woken])
    }
  }

  async #look () {
    const { topic: name, partitions = allOf } = this.#options
    const topic = (await this.#client.topics([name])).get(name)
    if (this.#topicId !== '' && topic?.id !== this.#topicId) this.#reset()
    if (!topic) return
    this.#isBeginning ||= this.#topicId === ''
    const fresh = partitions(topic.partitions.length).filter(partition => !this.#streams.has(partition))
      .map(partition => ({ topic: name, topicId: topic.id, partition }))
    if (fresh.length === 0) return
    const bounds = await boundsOf(this.#client, fresh, ({ partition }) => topic.partitions[partition].leader)
    this.#topicId = topic.id
    // Partitions that came later have nothing from before.
    const isLate = this.#isBeginning && this.#options.isLate
    for (const [stream, { first, end }] of bounds) {
      this.#streams.set(stream.partition, stream)
      if (!isLate && end > first) this.#ends.set(stream, end)
      this.#fetcher.add(stream, { offset: isLate ? end : first })
    }
    this.#tellRead()
  }

  #reset () {
    for (const stream of this.#streams.values()) this.#fetcher.remove(stream)
    this.#streams.clear()
    this.#ends.clear()
    this.#topicId = ''
    this.#options.onReset?.()
    this.#wake()
  }

  /** @param {Stream} stream @param {bigint} next */
  #reached (stream, next) {
    const end = this.#ends.get(stream)
    if (end === undefined || next < end) return
    this.#ends.delete(stream)
    this.#tellRead()
  }

  #tellRead () {
    if (!this.#isBeginning || this.#ends.size > 0) return
    this.#isBeginning = false
    this.#options.onRead?.()
  }

  /** @param {unknown} problem */
  #tell (problem) {
    if (!this.#closing.signal.aborted) this.#options.onProblem(/** @type {Error|null} */ (problem))
  }
}

/** @param {number} count */
function allOf (count) { return Array.from({ length: count }, (_, partition) => partition) }
