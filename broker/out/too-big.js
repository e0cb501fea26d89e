import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { describe } from '../../gateway/base/errors.js'
import { measure } from '../../gateway/stats/format.js'
import { level } from '../topics.js'
import { Asides } from './asides.js'
import { Delivered } from './delivered.js'
import { keyOf } from './restaging.js'

/**
 * @typedef {import('./restaging.js').Name} Batch
 * @typedef {Batch & {topic: string, onAcknowledged?: () => void}} Parcel  a batch, and how it is sent
 * @typedef {{parcel: Parcel, messageId?: number, isSent?: boolean}} UnderWay  `isSent`: over the present connection
 */

/** MQTT's reason code for a packet that is too large. (MQTT.js does not know it for a message, and ends the connection.) */
const PACKET_TOO_LARGE = 0x95
/** So often a connection breaks with the same largest message under way, which then is set aside. */
const MAX_BREAKS = 3
/** Brokers change, and are changed. */
const REMEMBERED_MS = 600_000
/** What a packet has beside topic and payload, at most. */
const OVERHEAD_BYTES = 128

/**
 * Finds out which batches do not pass the broker, and has the spool stage them again in halves: one that the broker announces as too big,
 * refuses as such, or ends the connection for. A single row that does not pass stays in the spool.
 *
 * That connections break for a message is a guess: the link may be bad. So it is first set aside. Only if the link works then, and the
 * connection breaks with it once more, it is to blame, and larger ones with it, until as large a one passes, or for ten minutes. A single
 * row is tried again now and then.
 */
export class TooBig {
  /** Sent, and not acknowledged; in the order in which they were sent. @type {Map<Buffer, UnderWay>} */
  #underWay = new Map()
  /** The largest message that was under way when the connection broke. @type {{message: Buffer, count: number}|null} */
  #suspect = null
  /** What has ended connections, and what has passed: what is between them is to blame at once. */
  #guess = { bytes: Infinity, atMs: 0 }
  #passed = { bytes: 0, atMs: 0 }
  #isConnected
  /** Something has been acknowledged over the present connection. */
  #works = false
  /** Single rows that do not pass for certain. @type {Set<string>} */
  #hopeless = new Set()
  #asides
  #onWorking
  #nowMs
  delivered = new Delivered()
  #options

  /**
   * @param {object} options
   * @param {import('../client.js').BrokerClient} options.client
   * @param {import('../spool/spool.js').Spool} options.spool
   * @param {import('./alarms.js').Alarms} options.alarms
   * @param {import('./restaging.js').Restaging} options.restaging
   * @param {import('../../gateway/base/log.js').Log} options.log
   * @param {() => void} [options.onDue]  something may be tried again
   * @param {() => number} [options.nowMs]  monotonic
   */
  constructor ({ onDue = () => {}, nowMs = () => performance.now(), ...options }) {
    this.#options = options
    this.#nowMs = nowMs
    this.#asides = new Asides({ nowMs, onDue })
    this.#onWorking = onDue
    this.#isConnected = options.client.connected
    options.client.on('packetsend', this.#onSent)
    options.client.on('packetreceive', this.#onReceived)
    options.client.on('close', this.#onClose)
  }

  close () {
    const { client } = this.#options
    this.#asides.close()
    client.off('packetsend', this.#onSent)
    client.off('packetreceive', this.#onReceived)
    client.off('close', this.#onClose)
  }

  /** Single rows that seem not to pass. */
  get guessed () { return this.#asides.blamed }

  /**
   * Whether the broker takes a message of this size; otherwise it is staged again, or waits.
   * @param {string} topic
   * @param {Uint8Array} payload
   * @param {Parcel} parcel
   */
  mayPass (topic, payload, parcel) {
    if (this.#hopeless.has(keyOf(parcel)) || this.#asides.has(parcel)) return false
    const max = this.#options.client.serverProperties?.maximumPacketSize ?? Infinity
    const isAnnounced = Buffer.byteLength(topic) + payload.length + OVERHEAD_BYTES > max
    if (!isAnnounced && (payload.length < this.#limit || this.#asides.isTried(parcel))) return true
    this.#split(parcel, payload.length, isAnnounced)
    return false
  }

  /** @param {Buffer} message @param {Parcel} parcel */
  sent (message, parcel) {
    this.#underWay.set(message, { parcel })
  }

  /** To be sent again, now that others have passed. @returns {Parcel|undefined} */
  next () { return this.#works ? this.#asides.next() : undefined }

  /** It is held no longer. @param {Parcel} parcel */
  forget (parcel) { this.#asides.forget(parcel) }

  /** @param {Buffer} message @param {unknown} [error] */
  answered (message, error) {
    const { parcel } = /** @type {UnderWay} */ (this.#underWay.get(message))
    this.#underWay.delete(message)
    if (this.#suspect?.message === message) this.#suspect = null
    if (!error) this.#onPassed(parcel, message.length)
    if (/** @type {any} */ (error)?.code === PACKET_TOO_LARGE) this.#split(parcel, message.length, true)
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

  /** Sent again it has the same id, and is a copy. @param {import('mqtt').Packet} packet */
  #onSent = packet => {
    if (packet.cmd !== 'publish' || packet.qos === 0) return
    const { messageId, payload } = packet
    const underWay = this.#underWay.get(/** @type {Buffer} */ (payload)) ??
      [...this.#underWay.values()].find(each => each.messageId === messageId)
    if (underWay) Object.assign(underWay, { messageId, isSent: true })
  }

  /** MQTT.js says `connect` only once what was under way is sent again: here it may never be. @param {import('mqtt').Packet} packet */
  #onReceived = ({ cmd }) => {
    if (cmd === 'connack') this.#isConnected = true
    if (cmd !== 'puback' || this.#works) return
    this.#works = true
    this.#onWorking()
  }

  /** @param {Parcel} parcel @param {number} bytes */
  #onPassed (parcel, bytes) {
    this.delivered.acknowledged(parcel, bytes)
    const isMore = bytes > this.#passedBytes
    if (isMore || this.#asides.isTried(parcel)) this.#asides.passed(Math.max(bytes, this.#passedBytes))
    if (bytes >= this.#passedBytes) this.#passed = { bytes, atMs: this.#nowMs() }
    if (bytes >= this.#guess.bytes) this.#guess.bytes = Infinity
    this.#asides.forget(parcel)
  }

  /** The connection has broken, it may be for what was under way. */
  #onClose = () => {
    if (!this.#isConnected) return // one more attempt in vain
    this.#isConnected = this.#works = false
    const sent = [...this.#underWay].filter(([, { isSent }]) => isSent)
    for (const [, underWay] of sent) underWay.isSent = false
    if (sent.length === 0) return
    const [message, { parcel, messageId }] = sent.reduce((a, b) => a[0].length >= b[0].length ? a : b)
    const count = this.#suspect?.message === message ? this.#suspect.count + 1 : 1
    this.#suspect = { message, count }
    const isTried = this.#asides.isTried(parcel)
    const isKnown = isTried || this.#limit < Infinity
    const isToBlame = isKnown && message.length > this.#passedBytes
    if (!isToBlame && !isTried && count < MAX_BREAKS) return
    if (isToBlame) {
      this.#guess = { bytes: message.length, atMs: this.#nowMs() }
      this.#split(parcel, message.length, false)
    } else this.#asides.suspect(parcel, message.length)
    this.#options.client.removeOutgoingMessage(/** @type {number} */ (messageId)) // MQTT.js would send it with the next connection
  }

  get #limit () { return this.#nowMs() - this.#guess.atMs < REMEMBERED_MS ? this.#guess.bytes : Infinity }

  get #passedBytes () { return this.#nowMs() - this.#passed.atMs < REMEMBERED_MS ? this.#passed.bytes : 0 }

  /** @param {Parcel} parcel @param {number} bytes @param {boolean} isCertain */
  async #split (parcel, bytes, isCertain) {
    const { spool, alarms } = this.#options
    if (await this.#halve(parcel, bytes)) return this.#asides.forget(parcel)
    const record = await spool.read(parcel)
    if (!record || decode(record.payload).rows > 1) return this.#asides.forget(parcel) // it is no longer held, or under way already
    const row = `${describeBatch(parcel, bytes)} is a single row`
    if (isCertain) {
      this.#asides.forget(parcel)
      this.#hopeless.add(keyOf(parcel))
      alarms.raise('tooBig', 'SLUICE_ROW_TOO_BIG', `${row} and does not pass the broker: it stays in the spool.`)
    } else {
      this.#asides.blame(parcel, bytes)
      alarms.raise('tooBig', 'SLUICE_ROW_TOO_BIG', `${row}, and the connection breaks with it: it is tried again.`, 0)
    }
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
