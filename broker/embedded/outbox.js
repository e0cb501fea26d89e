/**
 * @typedef {{topic: string, payload: Buffer, retain: boolean}} Message
 * @typedef {{message: Message, bytes: number, dup: boolean}} Entry
 * @typedef {(message: Message, messageId: number, dup: boolean) => void} Send
 */

/** How many messages, and how many bytes of them, a client gets before it must acknowledge some. */
const WINDOW_MESSAGES = 1000
const WINDOW_BYTES = 8 * 2 ** 20
/** What a message that is kept takes beside its payload and topic, about. */
const MESSAGE_OVERHEAD_BYTES = 256

/**
 * The QoS 1 messages for one client, sent or waiting, oldest first: at most a window of them unacknowledged on the wire, at most
 * `maxBytes` in all. What comes on top is dropped and counted. Outlives the connection where the client keeps its session.
 */
export class Outbox {
  /** @type {Entry[]} */
  #waiting = []
  #next = 0
  /** By message id, in the order sent. @type {Map<number, Entry>} */
  #sent = new Map()
  #sentBytes = 0
  #lastId = 0
  #maxBytes
  /** @type {Send|null} */
  #send = null

  bytes = 0
  droppedMessages = 0
  droppedBytes = 0

  /** @param {number} maxBytes */
  constructor (maxBytes) {
    this.#maxBytes = maxBytes
  }

  get messages () { return this.#sent.size + this.#waiting.length - this.#next }

  /** Sends from now on, beginning with what is there. @param {Send} send */
  open (send) {
    if (this.#send) this.suspend(this.#send)
    this.#send = send
    this.#pump()
  }

  /**
   * That connection is gone: what it left unacknowledged goes first, marked as a duplicate, on the next.
   * @param {Send} send
   * @returns {boolean} false when it was another
   */
  suspend (send) {
    if (this.#send !== send) return false
    this.#send = null
    const again = Array.from(this.#sent.values(), entry => ({ ...entry, dup: true }))
    this.#waiting = again.concat(this.#waiting.slice(this.#next))
    this.#next = 0
    this.#sent.clear()
    this.#sentBytes = 0
    return true
  }

  /** @param {Message} message @returns {boolean} false when there was no room */
  add (message) {
    const bytes = sizeOf(message)
    if (this.bytes + bytes > this.#maxBytes) {
      this.droppedMessages++
      this.droppedBytes += message.payload.length
      return false
    }
    this.bytes += bytes
    this.#waiting.push({ message, bytes, dup: false })
    this.#pump()
    return true
  }

  /** @param {number} messageId */
  acknowledge (messageId) {
    const entry = this.#sent.get(messageId)
    if (!entry) return
    this.#sent.delete(messageId)
    this.#sentBytes -= entry.bytes
    this.bytes -= entry.bytes
    this.#pump()
  }

  #pump () {
    while (this.#send && this.#next < this.#waiting.length && this.#hasRoom()) {
      const entry = this.#waiting[this.#next++]
      const messageId = this.#newId()
      this.#sent.set(messageId, entry)
      this.#sentBytes += entry.bytes
      this.#send(entry.message, messageId, entry.dup)
    }
    if (this.#next > 1000 && this.#next * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
  }

  #hasRoom () {
    return this.#sent.size === 0 || (this.#sent.size < WINDOW_MESSAGES && this.#sentBytes < WINDOW_BYTES)
  }

  #newId () {
    do this.#lastId = this.#lastId % 65_535 + 1
    while (this.#sent.has(this.#lastId))
    return this.#lastId
  }
}

/** What a message takes in memory, about. @param {Message} message */
export function sizeOf ({ payload, topic }) {
  return payload.length + topic.length + MESSAGE_OVERHEAD_BYTES
}

/**
 * The message of a packet, for keeping: a payload that is a small piece of what was read from a socket is copied, or it would keep all
 * of that in memory.
 * @param {{topic: string, payload: Buffer|string, retain: boolean}} packet
 * @returns {Message}
 */
export function messageOf ({ topic, payload, retain }) {
  const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
  const isSmallPiece = bytes.length * 2 < bytes.buffer.byteLength
  return { topic, payload: isSmallPiece ? Buffer.from(new Uint8Array(bytes).buffer) : bytes, retain }
}
