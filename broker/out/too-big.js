import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { describe } from '../../gateway/base/errors.js'
import { measure } from '../../gateway/stats/format.js'
import { level } from '../topics.js'
import { Delivered } from './delivered.js'
import { keyOf } from './restaging.js'

/**
 * @typedef {import('./restaging.js').Name} Batch
 * @typedef {{batch: Batch, messageId?: number}} UnderWay
 */

/** MQTT's reason code for a packet that is too large. (MQTT.js does not know it for a message, and ends the connection.) */
const PACKET_TOO_LARGE = 0x95
/** So often a connection breaks with the same largest message under way, which then is to blame. */
const MAX_BREAKS = 3
/** What a packet has beside topic and payload, at most. */
const OVERHEAD_BYTES = 128

/**
 * Finds out which batches do not pass the broker, and has the spool stage them again in halves: one that the broker announces as too big,
 * refuses as such, or ends the connection for. A single row that does not pass stays in the spool.
 */
export class TooBig {
  /** Sent, and not acknowledged; in the order in which they were sent. @type {Map<Buffer, UnderWay>} */
  #underWay = new Map()
  /** The largest message that was under way when the connection broke. @type {{message: Buffer, count: number}|null} */
  #suspect = null
  /** What has ended connections, and what has passed, in bytes: what is between them is to blame at once. */
  #limit = Infinity
  #passed = 0
  #isConnected
  /** Single rows that do not pass. @type {Set<string>} */
  #hopeless = new Set()
  delivered = new Delivered()
  #options

  /**
   * @param {object} options
   * @param {import('mqtt').MqttClient} options.client
   * @param {import('../spool/spool.js').Spool} options.spool
   * @param {import('./alarms.js').Alarms} options.alarms
   * @param {import('./restaging.js').Restaging} options.restaging
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (options) {
    this.#options = options
    this.#isConnected = options.client.connected
    options.client.on('packetsend', this.#onSent)
    options.client.on('packetreceive', this.#onReceived)
    options.client.on('close', this.#onClose)
  }

  close () {
    const { client } = this.#options
    client.off('packetsend', this.#onSent)
    client.off('packetreceive', this.#onReceived)
    client.off('close', this.#onClose)
  }

  /**
   * Whether the broker takes a message of this size; otherwise it is staged again.
   * @param {string} topic
   * @param {Uint8Array} payload
   * @param {Batch} batch
   */
  mayPass (topic, payload, batch) {
    if (this.#hopeless.has(keyOf(batch))) return false
    const max = this.#options.client.serverProperties?.maximumPacketSize ?? Infinity
    if (Buffer.byteLength(topic) + payload.length + OVERHEAD_BYTES <= max && payload.length < this.#limit) return true
    this.#split(batch, payload.length)
    return false
  }

  /** @param {Buffer} message @param {Batch} batch */
  sent (message, batch) {
    this.#underWay.set(message, { batch })
  }

  /** @param {Buffer} message @param {unknown} [error] */
  answered (message, error) {
    const { batch } = /** @type {UnderWay} */ (this.#underWay.get(message))
    this.#underWay.delete(message)
    if (this.#suspect?.message === message) this.#suspect = null
    if (!error) {
      this.#passed = Math.max(this.#passed, message.length)
      this.delivered.acknowledged(batch, message.length)
    }
    if (/** @type {any} */ (error)?.code === PACKET_TOO_LARGE) this.#split(batch, message.length)
    else if (error && this.#options.client.connected) this.#options.log.warn(`Publishing failed: ${describe(error)}`)
  }

  /**
   * A reader was sent it again and again, and it never arrived. It need not be for its size: a broker under load drops messages, too.
   * @param {string} consumer
   * @param {Batch} batch
   */
  async undelivered (consumer, batch) {
    const record = await this.#options.spool.read(batch)
    if (record && record.payload.length > this.delivered.of(level(consumer))) await this.#halve(batch, record.payload.length)
  }

  /** @param {import('mqtt').Packet} packet */
  #onSent = packet => {
    const underWay = packet.cmd === 'publish' ? this.#underWay.get(/** @type {Buffer} */ (packet.payload)) : undefined
    if (underWay) underWay.messageId = packet.messageId
  }

  /** MQTT.js says `connect` only once what was under way is sent again, which here never succeeds. @param {import('mqtt').Packet} packet */
  #onReceived = ({ cmd }) => { if (cmd === 'connack') this.#isConnected = true }

  /** The connection has broken, it may be for what was under way. */
  #onClose = () => {
    if (!this.#isConnected) return // one more attempt in vain
    this.#isConnected = false
    const largest = [...this.#underWay.keys()].reduce((/** @type {Buffer|null} */ a, b) => a && a.length >= b.length ? a : b, null)
    if (!largest) {
      this.#suspect = null
      return
    }
    const count = this.#suspect?.message === largest ? this.#suspect.count + 1 : 1
    this.#suspect = { message: largest, count }
    const isKnown = this.#limit < Infinity && largest.length > this.#passed
    if (count < MAX_BREAKS && !isKnown) return
    this.#limit = largest.length
    const { batch, messageId } = /** @type {UnderWay} */ (this.#underWay.get(largest))
    this.#split(batch, largest.length)
    if (messageId !== undefined) this.#options.client.removeOutgoingMessage(messageId) // MQTT.js would send it with the next connection
  }

  /** It is too big for certain. @param {Batch} batch @param {number} bytes */
  async #split (batch, bytes) {
    const { spool, alarms } = this.#options
    if (await this.#halve(batch, bytes)) return
    const record = await spool.read(batch)
    if (!record || decode(record.payload).rows > 1) return // it is no longer held, or under way already
    this.#hopeless.add(keyOf(batch))
    const text = `${describeBatch(batch, bytes)} is a single row and does not pass the broker: it stays in the spool.`
    alarms.raise('tooBig', 'SLUICE_ROW_TOO_BIG', text)
  }

  /** @param {Batch} batch @param {number} bytes @returns {Promise<boolean>} whether it was, or why not is reported */
  async #halve (batch, bytes) {
    const { restaging, log } = this.#options
    try {
      if (await restaging.restage([batch], { inHalves: true }) === 0) return false
      log.info(`${describeBatch(batch, bytes)} does not pass the broker, and is staged again in parts.`)
    } catch (error) {
      log.warn(`${describeBatch(batch, bytes)} cannot be staged again: ${describe(error)}`)
    }
    return true
  }
}

/** @param {Batch} batch @param {number} bytes */
function describeBatch ({ source, epoch, seq }, bytes) {
  return `Batch ${epoch}/${seq} of "${source}" (${measure(bytes, 'B')})`
}
