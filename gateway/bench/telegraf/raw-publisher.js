import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Publishes packets that are encoded beforehand with QoS 1 over a plain socket, MQTT 3.1.1: what it costs must not limit who consumes. It
 * has no more than a window of messages unacknowledged.
 */
export class RawPublisher {
  #socket
  #packets
  #window
  /** The first that has not been sent. */
  #next = 0
  /** Of the broker: CONNACK and every PUBACK have four bytes. */
  #bytes = 0
  #done = Promise.withResolvers()

  /** @param {{host: string, port: number, clientId: string, packets: Buffer[], window: number}} options  packets of `encodePublish` */
  constructor ({ host, port, clientId, packets, window }) {
    this.#packets = packets
    this.#window = window
    this.#socket = connect({ host, port, noDelay: true })
    this.#socket.write(encodeConnect(clientId))
    this.#socket.on('close', () => this.#done.reject(new Error('The broker has closed the connection.')))
    this.#socket.on('error', error => this.#done.reject(error))
    this.#done.promise.catch(() => {}) // whoever publishes hears of it
  }

  /** Messages that the broker has acknowledged. */
  get acknowledged () { return Math.max(0, Math.floor(this.#bytes / 4) - 1) }

  /** Resolves when the broker accepts the connection. */
  async connected () {
    const [connack] = await Promise.race([once(this.#socket, 'data'), this.#done.promise])
    if (connack[0] !== 0x20 || connack[3] !== 0) throw new Error('The broker has refused the connection.')
    this.#bytes = connack.length
  }

  /** Resolves once the broker has acknowledged all. */
  async publish () {
    this.#socket.on('data', chunk => {
      this.#bytes += chunk.length
      this.#send()
    })
    this.#send()
    await this.#done.promise
    this.#socket.end()
  }

  #send () {
    const end = Math.min(this.acknowledged + this.#window, this.#packets.length)
    if (end > this.#next) this.#socket.write(Buffer.concat(this.#packets.slice(this.#next, end)))
    this.#next = Math.max(this.#next, end)
    if (this.acknowledged === this.#packets.length) this.#done.resolve(undefined)
  }
}

/** @param {string} clientId */
function encodeConnect (clientId) {
  const CLEAN_WITHOUT_KEEP_ALIVE = [4, 2, 0, 0]
  return packet(0x10, [text('MQTT'), Buffer.from(CLEAN_WITHOUT_KEEP_ALIVE), text(clientId)])
}

/** @param {{topic: string, payload: string}} message @param {number} index  of the message on its connection */
export function encodePublish ({ topic, payload }, index) {
  const id = Buffer.alloc(2)
  id.writeUInt16BE(index % 65_535 + 1)
  return packet(0x32, [text(topic), id, Buffer.from(payload)])
}

/** @param {number} type @param {Buffer[]} parts */
function packet (type, parts) {
  const header = [type]
  let length = parts.reduce((sum, part) => sum + part.length, 0)
  do {
    header.push(length % 128 + (length > 127 ? 128 : 0))
    length = Math.floor(length / 128)
  } while (length > 0)
  return Buffer.concat([Buffer.from(header), ...parts])
}

/** @param {string} value */
function text (value) {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}
