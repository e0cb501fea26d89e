import { HeldAcks, NOTHING_HELD } from './deferred-acks.js'
import { MalformedPacket, PublishReader } from './publish-reader.js'

/**
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('./deferred-acks.js').Acknowledged} Acknowledged
 * @typedef {import('./publish-reader.js').Publish} Publish
 *
 * @typedef {object} IncomingOptions
 * @property {number} maxMessages  that wait to be acknowledged
 * @property {number} maxBytes  of their payloads, but for the last one
 * @property {(packet: Publish, held: Acknowledged) => void} onPublish  called for each message as it arrives; must not throw. `held` may be
 *   acknowledged at any time and in any order
 */

/** For each second of keepalive: MQTT.js awaits the answer to a ping for half as long. */
const MS_BEHIND_PING = 500

/**
 * The messages of a client that does nothing but receive: they are read without MQTT.js, and no more of them than may wait. With so many,
 * nothing is read until some are acknowledged, and TCP makes the broker wait, whatever it thinks of a receive maximum: Mosquitto 2.0 sends
 * all at once that has queued up in a session. What else the broker says waits behind, so no acknowledgement may depend on that.
 */
export class Incoming {
  #options
  /** That it has taken over. @type {MqttClient|null} */
  #client = null
  #isStopped = false
  #isClosed = false
  #lastReadMs = 0
  /** Reads on where it has stopped. */
  #goOn = () => {}

  /** @param {IncomingOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** Each new connection, as `connect` wants it. @type {import('../connection/diverted.js').Read} */
  read = (client, stream, pass) => {
    if (!this.#client) this.#takeOver(client)
    const { maxMessages, maxBytes, onPublish } = this.#options
    const acks = new HeldAcks(stream, () => { if (this.#isStopped) this.#goOn() })
    const reader = new PublishReader({
      isVersion5: client.options.protocolVersion === 5,
      pass,
      hasRoom: () => this.#isClosed || (acks.count < maxMessages && acks.bytes < maxBytes),
      take: packet => {
        if (this.#isClosed) return
        client.emit('message', packet.topic, packet.payload, packet)
        onPublish(packet, packet.qos === 0 ? NOTHING_HELD : acks.hold(packet.messageId, packet.payload.length))
      }
    })
    const read = (/** @type {Buffer|undefined} */ chunk) => {
      this.#lastReadMs = performance.now()
      try {
        this.#isStopped = !reader.read(chunk)
      } catch (error) {
        if (!(error instanceof MalformedPacket)) throw error
        stream.destroy(error)
      }
    }
    this.#isStopped = false
    this.#goOn = () => {
      read(undefined)
      if (!this.#isStopped) stream.resume()
    }
    stream.on('data', chunk => {
      read(chunk)
      if (this.#isStopped) stream.pause()
    })
  }

  /** Takes no more: what comes, comes again in a later session. But it reads on, as a connection that is not read does not end. */
  close () {
    this.#isClosed = true
    this.#goOn()
  }

  /** @param {MqttClient} client */
  #takeOver (client) {
    this.#client = client
    client.handleMessage = (packet, callback) => { // with QoS 2, which nobody has asked for
      if (!this.#isClosed) this.#options.onPublish(/** @type {any} */ (packet), NOTHING_HELD)
      callback()
    }
    const { onKeepaliveTimeout } = client
    client.onKeepaliveTimeout = () => {
      const isSilent = performance.now() - this.#lastReadMs > client.keepalive * MS_BEHIND_PING
      if (isSilent && !this.#isStopped) return onKeepaliveTimeout.call(client)
      client.sendPing() // the answer to the one before is behind what has not been read
      client.reschedulePing(true)
    }
  }
}
