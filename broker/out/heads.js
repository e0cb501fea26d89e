import { describe } from '../../gateway/base/errors.js'
import { measure } from '../../gateway/stats/format.js'
import { MAX_CONTROL_BYTES } from '../control-messages.js'

const IDLE_MS = 600_000
/** What a packet has beside topic and payload, at most. */
const OVERHEAD_BYTES = 32
/** Doubts that do not go away are not announced in a circle. */
const URGENT_MS = 250

/** Publishes what a spool holds: on connecting, while it changes, at once when a doubt arises, and now and then. */
export class Heads {
  #isChanged = true
  #published = ''
  #publishedMs = -Infinity
  #isActive = false
  #timer
  /** @type {NodeJS.Timeout|undefined} */
  #urgent
  #options

  /**
   * @param {object} options
   * @param {import('../client.js').BrokerClient} options.client
   * @param {string} options.topic
   * @param {(maxBytes: number) => string} options.head  no longer than that, where it can be
   * @param {number} [options.intervalMs]
   * @param {import('./alarms.js').Alarms} options.alarms
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor ({ intervalMs = 5000, ...options }) {
    this.#options = options
    this.#timer = setInterval(() => this.#tick(), intervalMs).unref()
  }

  start () {
    this.#isActive = true
    this.#publish()
  }

  stop () {
    this.#isActive = false
  }

  close () {
    this.#isActive = false
    clearInterval(this.#timer)
    clearTimeout(this.#urgent)
  }

  changed () {
    this.#isChanged = true
  }

  /** Something is in doubt: what the sinks have of it is asked for. */
  ask () {
    this.#isChanged = true
    this.#urgent ??= setTimeout(() => {
      this.#urgent = undefined
      this.#tick()
    }, URGENT_MS)
  }

  #tick () {
    const isDue = performance.now() - this.#publishedMs > IDLE_MS
    if (this.#isActive && (this.#isChanged || isDue)) this.#publish({ onlyNews: !isDue })
  }

  #publish ({ onlyNews = false } = {}) {
    const { client, topic, head, alarms, log } = this.#options
    this.#isChanged = false
    const packetBytes = client.serverProperties?.maximumPacketSize ?? Infinity
    const max = Math.min(MAX_CONTROL_BYTES, packetBytes - Buffer.byteLength(topic) - OVERHEAD_BYTES)
    const message = head(max)
    if (onlyNews && message === this.#published) return
    if (Buffer.byteLength(message) > max) {
      const text = `What the spool holds takes ${measure(message.length, 'B')} to say, which the broker or the readers refuse.`
      alarms.raise('tooBig', 'SLUICE_HEAD_TOO_BIG', text)
      return
    }
    this.#published = message
    this.#publishedMs = performance.now()
    client.publish(topic, message, { qos: 1, retain: true }, error => {
      if (error && this.#isActive) log.warn(`Publishing the head failed: ${describe(error)}`)
    })
  }
}
