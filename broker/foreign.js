import { describe } from '../gateway/errors.js'
import { again } from './again.js'
import { isForTopic, parseTopic } from './topics.js'

/**
 * @typedef {import('./consumer.js').Packet & {qos?: number}} Packet
 *
 * @typedef {object} ForeignOptions
 * @property {import('mqtt').MqttClient} client  with a fixed id, a persistent session and deferred acknowledgements, of its own: what waits here holds up no batch
 * @property {string[]} topics  MQTT topic filters
 * @property {(packet: Packet) => Promise<void>} keep  resolves once the message is safe; called again for the same packet when it fails
 * @property {number} [mostPending]
 * @property {import('../gateway/sinks/sink.js').Log} [log]
 */

/**
 * Receives the messages of others and acknowledges each once it is safe, in the order of arrival. Our own topics are left alone, whatever the filters say, and so is what an
 * earlier deploy has subscribed to.
 */
export class ForeignConsumer {
  counters = { received: 0, dropped: 0 }
  #options
  #pending = 0
  #closed = false
  /** How many connections have ended. */
  #ended = 0

  /** @param {ForeignOptions} options */
  constructor (options) {
    this.#options = { mostPending: 1000, log: console, ...options }
    const { client } = options
    client.on('connect', this.#subscribe)
    client.on('close', this.#onClose)
    if (client.connected) this.#subscribe()
  }

  /** @param {Packet} packet @param {() => void} ack */
  receive (packet, ack) {
    const { topics, keep, log, mostPending } = this.#options
    if (this.#closed) return
    if (parseTopic(packet.topic) || !topics.some(filter => isForTopic(filter, packet.topic))) return ack()
    this.counters.received++
    if (packet.qos === 0 && this.#pending >= mostPending) { // nobody would send it again, and nothing can hold it back
      this.counters.dropped++
      return
    }
    const ended = this.#ended
    this.#pending++
    again(async () => {
      await keep(packet)
      ack()
    }, {
      goesOn: () => !this.#closed && (this.#ended === ended || packet.qos === 0),
      onError: error => log.error(`A message on ${packet.topic} cannot be kept, and stays with the broker: ${describe(error)}`)
    }).finally(() => { this.#pending-- })
  }

  /** Stops at once; what is not kept stays unacknowledged and comes again. The client is its owner's to end. */
  close () {
    this.#closed = true
    const { client } = this.#options
    client.off('connect', this.#subscribe)
    client.off('close', this.#onClose)
  }

  #onClose = () => { this.#ended++ }

  #subscribe = () => {
    const { client, topics, log } = this.#options
    client.subscribe(topics, { qos: 1 }, (error, granted) => {
      const refused = granted?.filter(({ qos }) => qos >= 128).map(({ topic }) => topic) ?? []
      if ((error || refused.length > 0) && client.connected) log.error(`The broker refuses the subscription to ${refused.join(', ') || topics.join(', ')}${error ? `: ${describe(error)}` : ''}`)
    })
  }
}
