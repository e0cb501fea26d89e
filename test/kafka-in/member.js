import { KafkaConsumer } from '../../broker/kafka-in/consumer.js'
import { readMessage } from '../../broker/kafka-in/messages.js'
import { SET_BACK } from '../../gateway/databases/set-back.js'
import { open } from '../../gateway/databases/sqlite/sink.js'
import { Deliveries } from '../../gateway/flow/deliveries.js'
import { SinkRegistry } from '../../gateway/flow/sinks.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'

const MAPPER = new Mapper([])

/**
 * What a gateway with a Kafka in and sinks behind it is, without Node-RED: each batch goes straight to the sinks, one write at a time.
 *
 * @typedef {import('../../gateway/databases/sink.js').Sink} Sink
 */
export class Member {
  #registry = new SinkRegistry()
  #deliveries = new Deliveries()
  /** @type {Map<string, {sink: Sink, written: Promise<unknown>, remove: () => void}>} */
  #sinks = new Map()
  /** Values that were refused, and why. @type {unknown[]} */
  refused = []
  /** @type {string[]} */
  reasons = []
  /** @type {string[]} */
  logged = []

  /**
   * @param {object} options
   * @param {import('../../gateway/kafka/client.js').Cluster} options.cluster
   * @param {string} options.group
   * @param {string[]} options.topics
   * @param {string[]} options.sinks
   * @param {Partial<import('../../broker/kafka-in/consumer.js').KafkaConsumerOptions> & {isLost?: () => boolean}} [options.more]
   *   `isLost`: whether the flow loses what it is given
   */
  constructor ({ cluster, group, topics, sinks, more = {} }) {
    const log = (/** @type {string} */ text) => { this.logged.push(text) }
    this.consumer = new KafkaConsumer({
      cluster,
      group,
      topics,
      reader: 'in',
      sinks: wired(sinks),
      registry: this.#registry,
      deliveries: { open: its => this.#deliveries.open({ ...its, quietMs: 50 }), close: id => this.#deliveries.close(id) },
      decode: (message, topic) => readMessage(MAPPER, message, topic),
      emit: delivery => {
        if (more.isLost?.()) return
        for (const id of delivery.sinks.keys()) this.#store(delivery, id)
      },
      onRefused: async (_topic, refused) => {
        this.refused.push(...refused.map(({ value }) => String(value)))
        this.reasons.push(...refused.map(({ reason }) => reason))
      },
      sessionMs: 3000,
      log: /** @type {any} */ ({ info: log, warn: log, error: log }),
      ...more
    })
  }

  /** @param {string} id @param {string} path */
  async addSink (id, path) {
    const sink = await open({ file: path, table: 'rows' })
    const remove = this.#registry.add({
      id,
      name: id,
      committed: () => sink.committed(),
      write: batch => sink.write([batch]),
      compact: heads => sink.compact(heads)
    })
    this.#sinks.set(id, { sink, written: Promise.resolve(), remove })
    return sink
  }

  async close () {
    await this.consumer.close()
    for (const { sink, written, remove } of this.#sinks.values()) {
      remove()
      await written
      await sink.close()
    }
  }

  /** What a sink node does. @param {import('../../broker/in/contract.js').Delivery} delivery @param {string} id */
  #store ({ attemptId, batch }, id) {
    const its = this.#sinks.get(id)
    const piece = { identified: true, part: null }
    if (!its || !this.#deliveries.accept(attemptId, id, piece)) return
    its.written = its.written.then(async () => {
      try {
        await its.sink.prepare([batch])
        await its.sink.write([batch])
        this.#deliveries.settle(attemptId, id, piece)
      } catch (error) {
        this.logged.push(String(error))
        this.#deliveries.release(attemptId, id, piece)
        if (/** @type {any} */ (error).code === SET_BACK) {
          this.#deliveries.setBack(id)
          this.#registry.emit('setBack', id)
        }
        setTimeout(() => this.consumer.emitWaiting(), 50)
      }
    })
  }
}

/** @param {string[]} ids */
export function wired (ids) {
  return ids.map(id => ({ id, sink: id, label: id }))
}
