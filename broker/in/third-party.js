import { describe } from '../../gateway/base/errors.js'
import { parseTopic } from '../topics.js'

/**
 * @typedef {import('./deferred-acks.js').Acknowledged} Acknowledged
 * @typedef {import('./contract.js').Packet & {retain?: boolean, dup?: boolean, properties?: {subscriptionIdentifier?: number|number[]}}}
 *   Packet
 *
 * @typedef {object} ThirdPartyOptions
 * @property {import('mqtt').MqttClient} client  with a fixed id and a persistent session; of its own: what waits here blocks no batch
 * @property {import('./subscriptions.js').Subscriptions} subscriptions  to its topic filters
 * @property {(packet: Packet, held: Acknowledged) => void} keep  acknowledges the message once it is safe
 * @property {number} [maxPending]  messages with QoS 0 that may wait
 * @property {number} [maxPendingBytes]  of their payloads, but for the last one
 * @property {() => void} [onDropped]  called for each message that could not wait
 * @property {() => void} [onNewSession]  packet ids mean other messages from now on
 * @property {import('../../gateway/base/log.js').Log} [log]
 */

/** That it remembers. */
const MAX_TOPICS = 10_000

/**
 * Receives third-party messages and acknowledges each once it is safe, in the order of arrival. Our own topics are left alone, whatever the
 * filters say, and so is what only an earlier deploy's filters include. What comes again, redelivered or retained, `keep` has to know.
 */
export class ThirdPartyConsumer {
  counters = { received: 0, dropped: 0 }
  #options
  /** Messages with QoS 0 that are not safe yet. */
  #pending = 0
  #pendingBytes = 0
  /** @type {Set<string>} */
  #granted = new Set()
  #closed = false
  /** Of each topic, the identifiers of the subscriptions that are meant. @type {Map<string, number[]>} */
  #meant = new Map()

  /** @param {ThirdPartyOptions} options */
  constructor (options) {
    this.#options = { maxPending: 1000, maxPendingBytes: 2 ** 24, onDropped () {}, onNewSession () {}, log: console, ...options }
    const { client } = this.#options
    client.on('connect', this.#onConnect)
    if (client.connected) this.#subscribe()
  }

  /** @param {Packet} packet @param {Acknowledged} held */
  receive (packet, held) {
    const { keep, maxPending, maxPendingBytes, onDropped } = this.#options
    if (this.#closed) return
    if (!this.#isMeant(packet)) return held.ack()
    this.counters.received++
    if (packet.qos !== 0) return keep(packet, held)
    // Nobody would send it again, and nothing can make its sender wait.
    if (this.#pending >= maxPending || this.#pendingBytes >= maxPendingBytes) {
      this.counters.dropped++
      onDropped()
      return
    }
    const { length: bytes } = packet.payload
    this.#pending++
    this.#pendingBytes += bytes
    keep(packet, {
      ack: () => {
        this.#pending--
        this.#pendingBytes -= bytes
      }
    })
  }

  /** Filters that the broker has not granted since the last connect. @returns {string[]} */
  get missing () {
    const { client, subscriptions } = this.#options
    return client.connected ? subscriptions.filters.filter(filter => !this.#granted.has(filter)) : subscriptions.filters
  }

  /** Stops at once; what is not kept stays unacknowledged and comes again. The client is its owner's to end. */
  close () {
    this.#closed = true
    this.#options.client.off('connect', this.#onConnect)
  }

  /** @param {Packet} packet */
  #isMeant ({ topic, properties }) {
    let meant = this.#meant.get(topic)
    if (!meant) {
      if (this.#meant.size >= MAX_TOPICS) this.#meant.clear()
      this.#meant.set(topic, meant = parseTopic(topic) ? [] : this.#options.subscriptions.identifiersFor(topic))
    }
    const identifier = properties?.subscriptionIdentifier
    if (meant.length === 0 || identifier === undefined) return meant.length > 0
    return typeof identifier === 'number' ? meant.includes(identifier) : identifier.some(each => meant.includes(each))
  }

  /** @param {{sessionPresent: boolean, properties?: {subscriptionIdentifiersAvailable?: boolean}}} connack */
  #onConnect = ({ sessionPresent, properties }) => {
    this.#granted.clear()
    if (!sessionPresent) this.#options.onNewSession()
    this.#subscribe(properties?.subscriptionIdentifiersAvailable)
  }

  /** What is gone goes first: no message comes both for it and for what is new. Where that fails, so has the connection. */
  #subscribe (isIdentified = true) {
    const { client, subscriptions, log } = this.#options
    for (const filter of subscriptions.gone) client.unsubscribe(filter, () => {})
    for (const filter of subscriptions.filters) {
      const subscriptionIdentifier = subscriptions.identifierOf(filter)
      client.subscribe(filter, { qos: 1, ...isIdentified && { properties: { subscriptionIdentifier } } }, (error, granted) => {
        const isRefused = granted?.some(({ qos }) => qos >= 128)
        if (!error && !isRefused) this.#granted.add(filter)
        if ((!error && !isRefused) || !client.connected) return
        log.error(`The broker refuses the subscription to ${filter}${error ? `: ${describe(error)}` : ''}`)
      })
    }
  }
}
