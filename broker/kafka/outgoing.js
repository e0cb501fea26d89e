import { setTimeout as sleep } from 'node:timers/promises'
import { ProduceAcks, produceV9 } from '@platformatic/kafka'
import { backoff } from '../../gateway/base/backoff.js'
import { isAnswer } from '../../gateway/kafka/client.js'
import { NO_TIME, UNTIMELY } from '../../gateway/kafka/produce.js'

/**
 * @typedef {{key: Buffer, value: Buffer|null, callback?: (error?: any) => void}} Waiting
 * @typedef {{topic: string, partition: number, waiting: Waiting[], isSending: boolean}} Partition
 */

/** As MQTT numbers it: who asks for more needs no second word for it. */
const PACKET_TOO_LARGE = 0x95
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']
const tooLarge = () => Object.assign(new Error('The brokers refuse its size'), { code: PACKET_TOO_LARGE })
/** Of a record and the block that it is in, beside key and value. */
export const OVERHEAD_BYTES = 96
const RETRY_MS = { first: 100, max: 5000, jitter: 0.5 }
const PATIENCE_MS = 15_000

/**
 * Sends what is published, until the brokers have it: to each partition one request at a time, with all that waits for it, so that the
 * order is kept. What is sent again may be there twice.
 */
export class Outgoing {
  /** Until it is known, as brokers have it by default. */
  maxBytes = 2 ** 20
  /** @type {Map<string, Partition>} */
  #partitions = new Map()
  #waiting = 0
  /** What records have; when they are sent, unless brokers refuse that. @type {bigint|undefined} */
  #time
  #isClosed = false
  #client
  #onFailure

  /**
   * @param {import('../../gateway/kafka/client.js').KafkaClient} client
   * @param {(error: unknown) => void} onFailure  called for each attempt in vain
   */
  constructor (client, onFailure) {
    this.#client = client
    this.#onFailure = onFailure
  }

  get isIdle () { return this.#waiting === 0 }

  /**
   * @param {string} topic
   * @param {number} number  of the partition
   * @param {string} key
   * @param {Buffer|null} value
   * @param {Waiting['callback']} [callback]
   */
  publish (topic, number, key, value, callback) {
    const name = `${topic}:${number}`
    const its = this.#partitions.get(name) ?? { topic, partition: number, waiting: [], isSending: false }
    this.#partitions.set(name, its)
    its.waiting.push({ key: Buffer.from(key), value, callback })
    this.#waiting++
    if (!its.isSending) this.#send(its)
  }

  /** What waits is given up. */
  close () {
    this.#isClosed = true
  }

  /** @param {Partition} partition */
  async #send (partition) {
    partition.isSending = true
    await null // with all of this turn
    for (let attempt = 0, most = Infinity; partition.waiting.length > 0 && !this.#isClosed;) {
      const count = this.#fitting(partition.waiting, most)
      try {
        await this.#produce(partition, partition.waiting.slice(0, count))
        this.#done(partition, count)
        attempt = 0
        most = Infinity
      } catch (error) {
        if (this.#isClosed) break
        const isTooLarge = isAnswer(error, ...TOO_LARGE)
        if (isTooLarge && count === 1) this.#done(partition, 1, tooLarge())
        else if (isTooLarge) most = 1
        else if (this.#time === undefined && isAnswer(error, UNTIMELY)) this.#time = NO_TIME
        else {
          this.#client.forget()
          this.#onFailure(error)
          await sleep(backoff(attempt++, RETRY_MS), undefined, { ref: false })
        }
      }
    }
    partition.isSending = false
  }

  /** @param {Partition} partition @param {Waiting[]} waiting */
  async #produce ({ topic, partition }, waiting) {
    const found = await this.#client.topic(topic)
    const its = found ? partition % found.partitions.length : partition // the topic may be another one, with fewer of them
    const leader = found?.partitions[its]?.leader ?? -1
    const records = waiting.map(({ key, value }) => ({ topic, partition: its, key, value, timestamp: this.#time }))
    await this.#client.ask(produceV9.api, leader, ProduceAcks.ALL, PATIENCE_MS, records, {})
  }

  /** @param {Partition} partition @param {number} count @param {Error} [error] */
  #done ({ waiting }, count, error) {
    this.#waiting -= count
    for (const { callback } of waiting.splice(0, count)) callback?.(error)
  }

  /** How many go into one block. @param {Waiting[]} waiting @param {number} most */
  #fitting (waiting, most) {
    let bytes = 0
    const over = waiting.findIndex(({ key, value }) => (bytes += key.length + (value?.length ?? 0) + OVERHEAD_BYTES) > this.maxBytes)
    return Math.min(most, Math.max(1, over === -1 ? waiting.length : over))
  }
}
