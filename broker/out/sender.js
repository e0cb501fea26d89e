import { describe } from '../../gateway/base/errors.js'
import { gatewayTopics } from '../topics.js'
import { TooBig } from './too-big.js'

/**
 * @typedef {import('../spool/spool.js').Spool} Spool
 * @typedef {import('../spool/spool.js').Place} Place
 * @typedef {import('./resends.js').Resends} Resends
 */

/** Between two times that what has come is sent. */
const LINGER_MS = 150
const LINGER_BYTES = 2 ** 16

/**
 * Sends what is in a spool to the broker: in the order of the log each batch once, and again after a lost session, and in between what
 * readers have requested.
 */
export class Sender {
  /** Where to go on behind; undefined: at the first that is not stored. @type {Place|undefined} */
  #sent
  #isSending = false
  #pumping = false
  #wanted = false
  #inFlight = 0
  #inFlightBytes = 0
  /** @type {NodeJS.Timeout|undefined} */
  #lingerTimer
  #lingeredMs = -Infinity
  #lingeringBytes = 0
  #options
  #topics

  /**
   * @param {object} options
   * @param {import('../client.js').BrokerClient} options.client
   * @param {string} options.gateway
   * @param {Spool} options.spool
   * @param {Resends} options.resends
   * @param {import('./alarms.js').Alarms} options.alarms
   * @param {string} [options.contentType]  of the payloads
   * @param {import('./restaging.js').Restaging} options.restaging
   * @param {number} [options.window]  messages the broker has not acknowledged
   * @param {number} [options.windowBytes]
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor ({ window = 64, windowBytes = 2 ** 24, ...options }) {
    this.#options = { window, windowBytes, ...options }
    this.#topics = gatewayTopics(options.gateway)
    this.tooBig = new TooBig({ ...options, onDue: () => this.wake() })
    options.spool.on('accepted', this.#linger)
  }

  /** @param {{isNewSession: boolean}} how  what the broker had of an old session it passes on by itself */
  start ({ isNewSession }) {
    if (isNewSession) this.#sent = undefined
    this.#isSending = true
    this.wake()
  }

  /** The connection is gone. */
  stop () {
    this.#isSending = false
  }

  close () {
    this.#isSending = false
    clearTimeout(this.#lingerTimer)
    this.tooBig.close()
    this.#options.spool.off('accepted', this.#linger)
  }

  /** There is something to send. */
  wake () { this.#pump() }

  /**
   * What comes seldom is sent at once; what comes often waits a moment for more to send in one go, unless much is waiting: each wake-up of
   * sender, broker and receiver costs more than a small batch.
   * @param {number} bytes
   */
  #linger = bytes => {
    this.#lingeringBytes += bytes
    if (this.#lingerTimer && this.#lingeringBytes <= LINGER_BYTES) return
    const nowMs = performance.now()
    const waitMs = this.#lingeringBytes > LINGER_BYTES ? 0 : this.#lingeredMs + LINGER_MS - nowMs
    if (waitMs > 0) {
      this.#lingerTimer = setTimeout(() => this.#endLinger(), waitMs)
    } else this.#endLinger()
  }

  #endLinger () {
    this.#lingeredMs = performance.now()
    this.#pump()
  }

  /** Sends as the window allows: in turn one batch of the log, and one that was requested again. */
  async #pump () {
    clearTimeout(this.#lingerTimer)
    this.#lingerTimer = undefined
    this.#lingeringBytes = 0
    this.#wanted = true
    if (this.#pumping) return
    this.#pumping = true
    try {
      for (let sent = false; (sent || this.#wanted) && this.#hasRoom();) {
        this.#wanted = false
        sent = await this.#sendAside()
        sent = await this.#sendNext() || sent
        sent = await this.#sendAgain() || sent
      }
    } catch (error) {
      this.#options.log.error(`Cannot send from the spool: ${describe(error)}`)
    } finally {
      this.#pumping = false
    }
  }

  #hasRoom () {
    const { window, windowBytes } = this.#options
    return this.#isSending && this.#inFlight < window && this.#inFlightBytes < windowBytes
  }

  async #sendNext () {
    const { spool } = this.#options
    const place = this.#hasRoom() && spool.next(this.#sent && { ...this.#sent, position: this.#sent.position + 1 })
    if (!place) return false
    this.#sent = place
    const { source, epoch, seq } = place
    await this.#send({ source, epoch, seq, topic: this.#topics.data(source), onAcknowledged: () => spool.sent(place) })
    return true
  }

  async #sendAside () {
    const parcel = this.#hasRoom() ? this.tooBig.next() : undefined
    if (!parcel) return false
    await this.#send(parcel)
    return true
  }

  async #sendAgain () {
    const next = this.#hasRoom() ? this.#options.resends.next() : undefined
    if (!next) return false
    const { source, epoch, seq, consumer, reader } = next
    await this.#send({ source, epoch, seq, topic: this.#topics.resent(consumer, reader) })
    return true
  }

  /** @param {import('./too-big.js').Parcel} parcel */
  async #send (parcel) {
    const { client, spool, contentType } = this.#options
    const { topic, onAcknowledged } = parcel
    const payload = (await spool.read(parcel))?.payload
    if (!payload) return this.tooBig.forget(parcel)
    if (!this.tooBig.mayPass(topic, payload, parcel)) return
    const properties = contentType && client.options.protocolVersion === 5 ? { properties: { contentType } } : {}
    const message = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength) // its own: the same batch may be under way twice
    this.#inFlight++
    this.#inFlightBytes += payload.length
    this.tooBig.sent(message, parcel)
    client.publish(topic, message, { qos: 1, ...properties }, error => {
      this.#inFlight--
      this.#inFlightBytes -= payload.length
      this.tooBig.answered(message, error)
      if (!error) onAcknowledged?.()
      if (this.#isSending) this.#pump()
    })
  }
}
