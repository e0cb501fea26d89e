import { createHash } from 'node:crypto'
import { describe } from '../../gateway/base/errors.js'
import { isForTopic, parseTopic } from '../topics.js'

/**
 * @typedef {import('./deferred-acks.js').Acknowledged} Acknowledged
 * @typedef {import('./contract.js').Packet & {retain?: boolean, dup?: boolean, properties?: {subscriptionIdentifier?: number|number[]}}}
 *   Packet
 *
 * @typedef {object} ThirdPartyOptions
 * @property {import('mqtt').MqttClient} client  with a fixed id, a persistent session and deferred acknowledgements, of its own: what waits
 *   here blocks no batch
 * @property {string[]} topics  MQTT topic filters
 * @property {(packet: Packet, held: Acknowledged) => void} keep  acknowledges the message once it is safe
 * @property {number} [maxPending]
 * @property {() => void} [onDropped]  called for each message that could not wait
 * @property {() => void} [onNewSession]  packet ids mean other messages from now on
 * @property {import('../../gateway/base/log.js').Log} [log]
 */

const SHARED = '$share/'
/** That it remembers. */
const MAX_TOPICS = 10_000

/**
 * Receives third-party messages and acknowledges each once it is safe, in the order of arrival. Our own topics are left alone, whatever the
 * filters say, and so is what an earlier deploy has subscribed to. What comes again, redelivered or retained, `keep` has to know.
 */
export class ThirdPartyConsumer {
  counters = { received: 0, dropped: 0 }
  #options
  /** Messages with QoS 0 that are not safe yet. */
  #pending = 0
  /** @type {Set<string>} */
  #granted = new Set()
  #closed = false
  /** Of each filter: it comes back with what is sent for it. @type {Map<string, number>} */
  #identifiers
  /** Which of the filters are for a topic: their identifiers, none where it is not meant. @type {Map<string, number[]>} */
  #meant = new Map()

  /** @param {ThirdPartyOptions} options */
  constructor (options) {
    this.#options = { maxPending: 1000, onDropped () {}, onNewSession () {}, log: console, ...options }
    const { client, topics } = this.#options
    this.#identifiers = new Map(topics.map(filter => [filter, identifierOf(filter)]))
    client.on('connect', this.#onConnect)
    if (client.connected) this.#subscribe()
  }

  /** @param {Packet} packet @param {Acknowledged} held */
  receive (packet, held) {
    const { keep, maxPending, onDropped } = this.#options
    if (this.#closed) return
    if (!this.#isMeant(packet)) return held.ack()
    this.counters.received++
    if (packet.qos !== 0) return keep(packet, held)
    if (this.#pending >= maxPending) { // nobody would send it again, and nothing can make its sender wait
      this.counters.dropped++
      onDropped()
      return
    }
    this.#pending++
    keep(packet, { ack: () => { this.#pending-- } })
  }

  /** Filters that the broker has not granted since the last connect. @returns {string[]} */
  get missing () {
    const { client, topics } = this.#options
    return client.connected ? topics.filter(topic => !this.#granted.has(topic)) : topics
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
      this.#meant.set(topic, meant = parseTopic(topic) ? [] : this.#identifiersOf(topic))
    }
    const identifier = properties?.subscriptionIdentifier
    if (meant.length === 0 || identifier === undefined) return meant.length > 0
    return typeof identifier === 'number' ? meant.includes(identifier) : identifier.some(each => meant.includes(each))
  }

  /**
   * Where filters overlap (and those of an earlier deploy may, too), an MQTT 5 broker sends a message once for each, and names the
   * subscription: the one for the first of our filters is accepted. A shared subscription's messages go to one of many clients, so it is
   * not relied on where another filter matches as well.
   * @param {string} topic
   */
  #identifiersOf (topic) {
    const matching = this.#options.topics.filter(filter => isForTopic(filter, topic))
    const own = matching.find(filter => !filter.startsWith(SHARED))
    return (own ? [own] : matching).map(filter => /** @type {number} */ (this.#identifiers.get(filter)))
  }

  /** @param {{sessionPresent: boolean, properties?: {subscriptionIdentifiersAvailable?: boolean}}} connack */
  #onConnect = ({ sessionPresent, properties }) => {
    this.#granted.clear()
    if (!sessionPresent) this.#options.onNewSession()
    this.#subscribe(properties?.subscriptionIdentifiersAvailable)
  }

  #subscribe (isIdentified = true) {
    const { client, topics, log } = this.#options
    for (const topic of topics) {
      const subscriptionIdentifier = this.#identifiers.get(topic)
      client.subscribe(topic, { qos: 1, ...isIdentified && { properties: { subscriptionIdentifier } } }, (error, granted) => {
        const isRefused = granted?.some(({ qos }) => qos >= 128)
        if (!error && !isRefused) this.#granted.add(topic)
        if ((!error && !isRefused) || !client.connected) return
        log.error(`The broker refuses the subscription to ${topic}${error ? `: ${describe(error)}` : ''}`)
      })
    }
  }
}

/** The same in every deploy, and another for every filter. @param {string} filter @returns {number} 1 … 2²⁸ - 1 */
function identifierOf (filter) {
  return createHash('sha256').update(filter).digest().readUInt32BE() % (2 ** 28 - 1) + 1
}
