import { isForTopic } from '../../broker/topics.js'
import { nowNs } from '../clock/system-clock.js'
import { describe } from '../base/errors.js'
import { msOf } from './codec.js'
import { stateOf, stateTopic } from './topic.js'

/**
 * Whether a host application is there, for the edge nodes that wait for it (specification 3.0, chapter 5): its birth once it has connected
 * and subscribed; its death with the same time, which is the connection's will; and its death when it closes; all retained. The owner of
 * the connection opens it with `will()`, then calls `attach`, and `close` before it ends it.
 */
export class HostPresence {
  #topic
  #log
  #timestamp = 0
  /** @type {import('mqtt').MqttClient|null} */
  #client = null
  #isOnline = false
  /** by its owner: a broker sends a message once for each subscription */
  #isSubscribed = false

  /** @param {string} hostId @param {import('../base/log.js').Log} [log] */
  constructor (hostId, log) {
    this.#topic = stateTopic(hostId)
    this.#log = log
  }

  /** Of the next connection. */
  will () {
    this.#timestamp = Math.max(this.#timestamp + 1, Number(msOf(nowNs())))
    return { topic: this.#topic, payload: this.#state(false), qos: /** @type {const} */ (1), retain: true }
  }

  /**
   * @param {import('mqtt').MqttClient} client  of which it reads and sends only what concerns its own state
   * @param {string[]} filters  to which the owner subscribes when it connects, before this does
   */
  attach (client, filters) {
    this.#client = client
    this.#isSubscribed = filters.some(filter => !filter.startsWith('$') && isForTopic(filter, this.#topic))
    client.on('reconnect', () => { client.options.will = this.will() })
    client.on('connect', () => this.#begin(client))
    client.on('close', () => { this.#isOnline = false })
    client.on('message', (topic, payload) => {
      if (topic === this.#topic && this.#isOnline && stateOf(payload)?.online === false) this.#publish(true)
    })
  }

  close () {
    if (!this.#isOnline) return
    this.#isOnline = false
    this.#timestamp = Math.max(this.#timestamp, Number(msOf(nowNs())))
    this.#publish(false)
  }

  /** @param {import('mqtt').MqttClient} client */
  async #begin (client) {
    const timestamp = this.#timestamp
    try {
      if (!this.#isSubscribed) await client.subscribeAsync(this.#topic, { qos: 1 })
      if (timestamp !== this.#timestamp || !client.connected) return
      this.#isOnline = true
      this.#publish(true)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** @param {boolean} online */
  #publish (online) {
    this.#client?.publish(this.#topic, this.#state(online), { qos: 1, retain: true }, error => { if (error) this.#failed(error) })
  }

  /** @param {unknown} error */
  #failed (error) {
    if (this.#client?.connected) this.#log?.warn(`The state of this Sparkplug host cannot be published: ${describe(error)}`)
  }

  /** @param {boolean} online */
  #state (online) {
    return Buffer.from(JSON.stringify({ online, timestamp: this.#timestamp }))
  }
}
