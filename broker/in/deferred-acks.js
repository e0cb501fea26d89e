/**
 * Acknowledgements on our own time. MQTT.js hands over one message at a time and acknowledges it when its handler returns, so whoever
 * wants to acknowledge after a database commit would have one message in flight. Here the handler returns at once, told to send no
 * PUBACK (that is what an error given to the callback of `handleMessage` means to MQTT.js), and the PUBACK is written when the time
 * has come: in the order of arrival, as MQTT asks, and never on a later connection, where the packet id stands for another message.
 *
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('mqtt').IPublishPacket} PublishPacket
 * @typedef {{ack: () => void}} Acknowledged  whatever is told that a message is safe
 */

const NO_PUBACK = new Error('The PUBACK is sent later.')

/**
 * Takes over the messages of an MQTT.js client.
 * @param {MqttClient} client
 * @param {(packet: PublishPacket, ack: () => void) => void} onPublish  called for each message as it arrives; must not throw. `ack` may be
 *   called once or more, at any time and in any order; of a QoS 0 message, or after its connection has ended, it does nothing
 * @returns {{readonly pending: number}}  how many messages of the present connection the broker awaits an acknowledgement for
 */
export function deferAcks (client, onPublish) {
  let acks = new HeldAcks(client.stream)

  client.handleMessage = (packet, callback) => {
    if (packet.qos !== 1) {
      onPublish(packet, () => {})
      callback()
      return
    }
    if (!acks.isOf(client.stream)) acks = new HeldAcks(client.stream)
    const held = acks.hold(/** @type {number} */ (packet.messageId))
    onPublish(packet, () => held.ack())
    callback(NO_PUBACK)
  }

  return {
    get pending () { return acks.isOf(client.stream) ? acks.count : 0 }
  }
}

/** Of a message that nobody waits for. @type {Acknowledged} */
export const NOTHING_HELD = { ack () {} }

/** One message's; thousands wait at a time, so it is no function. */
class Held {
  isAcknowledged = false
  #acks

  /** @param {number} id  of the packet @param {number} bytes @param {HeldAcks} acks */
  constructor (id, bytes, acks) {
    this.id = id
    this.bytes = bytes
    this.#acks = acks
  }

  ack () {
    this.isAcknowledged = true
    this.#acks.due()
  }
}

/** The unacknowledged messages of one connection, oldest first. */
export class HeldAcks {
  /** Of the messages. */
  bytes = 0
  /** @type {Held[]} */
  #held = []
  #first = 0
  #scheduled = false
  #stream
  #onSent

  /** @param {MqttClient['stream']} stream @param {() => void} [onSent]  called when the broker has been sent some */
  constructor (stream, onSent = () => {}) {
    this.#stream = stream
    this.#onSent = onSent
  }

  /** @param {MqttClient['stream']} stream  the present one */
  isOf (stream) { return stream === this.#stream && !stream.destroyed }

  get count () { return this.#held.length - this.#first }

  /** @param {number} id  of the packet @param {number} [bytes]  of the message */
  hold (id, bytes = 0) {
    const held = new Held(id, bytes, this)
    this.#held.push(held)
    this.bytes += bytes
    return held
  }

  /** Some are acknowledged: once all of this turn are. */
  due () {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => this.#send())
  }

  /** Writes all that are due as one piece: a commit acknowledges many messages at once. */
  #send () {
    this.#scheduled = false
    const from = this.#first
    for (let held; (held = this.#held[this.#first])?.isAcknowledged; this.#first++) this.bytes -= held.bytes
    if (this.#first === from || !this.#stream.writable) return
    this.#stream.write(pubacks(this.#held.slice(from, this.#first)))
    if (this.#first * 2 > this.#held.length) {
      this.#held.splice(0, this.#first)
      this.#first = 0
    }
    this.#onSent()
  }
}

/** PUBACK packets, of the same four bytes in MQTT 3.1.1 and, for success, in MQTT 5. @param {Held[]} held */
function pubacks (held) {
  const bytes = Buffer.allocUnsafe(held.length * 4)
  held.forEach(({ id }, i) => bytes.writeUInt32BE(0x4002_0000 + id, i * 4))
  return bytes
}
