import { TopicReader } from '../../gateway/kafka/reader.js'
import { Retained } from './retained.js'
import { partitionOf, STAGE_TOPICS } from './topics.js'

/** Where many speak, so often at most what they say is fetched: nobody waits for it. */
const PACE_MS = 5000
const EMPTY = Buffer.alloc(0)

/**
 * What a client reads of a topic of staging, beside the batches that a group shares: where the newest of each key counts, all that there
 * is, and of the others what comes.
 *
 * @typedef {object} ReadingOptions
 * @property {import('./topics.js').StageTopicName} name
 * @property {string[]|null} gateways  what is said about these is enough; null: about any
 * @property {(topic: string, payload: Buffer) => void} onMessage  what is new
 * @property {() => void} onLost  the topic is another one now, or has lost its end
 * @property {(problem: unknown) => void} onProblem  null: there is none
 */
export class Reading {
  #retained
  #gateways
  #isRead = false
  #isClosed = false
  #read = Promise.withResolvers()
  #reader

  /** It begins at once. @param {import('../../gateway/kafka/client.js').Cluster} cluster @param {ReadingOptions} options */
  constructor (cluster, { name, gateways, onMessage, onLost, onProblem }) {
    const { name: topic, isRetained, isPaced } = STAGE_TOPICS[name]
    const retained = this.#retained = isRetained ? new Retained() : null
    this.#gateways = gateways
    const unlessClosed = (/** @type {() => void} */ work) => { if (!this.#isClosed) work() }
    this.#reader = new TopicReader(cluster, {
      topic,
      isLate: !isRetained,
      paceMs: isPaced ? PACE_MS : 0,
      ...gateways && { partitions: count => [...new Set(gateways.map(gateway => partitionOf(gateway, count)))] },
      onRead: () => {
        this.#isRead = true
        this.#read.resolve(undefined)
      },
      onReset: () => unlessClosed(onLost),
      onRecords: messages => unlessClosed(() => {
        for (const { key, value } of messages) {
          const isTaken = retained?.set(String(key), value ?? EMPTY) ?? true
          if (isTaken && this.#isRead) onMessage(String(key), value ?? EMPTY)
        }
      }),
      onProblem
    })
  }

  /** Resolves once all that was there has been read, or nothing will be any more. */
  get read () { return this.#read.promise }

  /** Topic and payload of all that is retained. */
  get retained () { return [...this.#retained ?? []] }

  /** Whether what is said about these is read. @param {string[]|null} gateways */
  includes (gateways) {
    return this.#gateways === null || (gateways?.every(gateway => this.#gateways?.includes(gateway)) ?? false)
  }

  async close () {
    this.#isClosed = true
    this.#read.resolve(undefined)
    await this.#reader.close()
  }
}
