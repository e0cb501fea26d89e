/**
 * Reads MQTT from bytes as they come: PUBLISH packets here; all others are passed on, in order. MQTT.js makes of each packet a list of
 * buffers, an object of many members, some events and a tick, which is most of what thousands of small messages a second cost.
 *
 * @typedef {object} Publish  as MQTT.js has it
 * @property {'publish'} cmd
 * @property {string} topic
 * @property {Buffer} payload  a view of what has come
 * @property {0|1} qos
 * @property {boolean} retain
 * @property {boolean} dup
 * @property {number} messageId  0 with QoS 0
 * @property {Properties} [properties]
 *
 * @typedef {{contentType?: string, subscriptionIdentifier?: number|number[]}} Properties  those that are of use here
 *
 * @typedef {object} PublishReaderOptions
 * @property {boolean} isVersion5  else it is MQTT 3.1.1
 * @property {() => boolean} hasRoom  asked before each PUBLISH
 * @property {(packet: Publish) => void} take
 * @property {(packet: Buffer) => void} pass  gets every other packet, whole; of PUBLISH those with QoS 2, which are not asked for
 */

/** The first four bits of a packet. */
const PUBLISH = 3
const MAX_NUMBER_BYTES = 4
/** Of the properties that a PUBLISH may have, those that are named here. */
const [CONTENT_TYPE, SUBSCRIPTION, TOPIC_ALIAS, USER] = [3, 11, 35, 38]
/** Bytes of those that always have as many. @type {Record<number, number>} */
const FIXED_BYTES = { 1: 1, 2: 4 }
/** Texts, or bytes, with their length in front. */
const TEXTS = new Set([CONTENT_TYPE, 8, 9])

/** What the broker has sent is no MQTT. */
export class MalformedPacket extends Error {
  /** The reason code of MQTT 5. */
  code = 129

  /** @param {string} what  is wrong with it */
  constructor (what) {
    super(`a packet that it sent ${what}`)
  }
}

export class PublishReader {
  /** What has not been read. @type {Buffer[]} */
  #chunks = []
  #length = 0
  /** So much of it must be there to go on. */
  #needed = 1
  #options

  /** @param {PublishReaderOptions} options */
  constructor (options) {
    this.#options = options
  }

  /**
   * @param {Buffer} [chunk]  none: goes on where it has stopped
   * @returns {boolean} false: it has stopped at a PUBLISH, as there is no room
   * @throws {MalformedPacket}  nothing can be read any more
   */
  read (chunk) {
    if (chunk) {
      this.#chunks.push(chunk)
      this.#length += chunk.length
    }
    if (this.#length < this.#needed) return true
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    let at = 0
    let isTaken = true
    this.#needed = 1
    while (at < bytes.length) {
      const body = numberEnd(bytes, at + 1)
      const end = body + numberAt(bytes, at + 1)
      if (end > bytes.length) {
        this.#needed = (body > bytes.length ? body : end) - at
        break
      }
      isTaken = this.#take(bytes, at, body, end)
      if (!isTaken) break
      at = end
    }
    this.#chunks = at < bytes.length ? [bytes.subarray(at)] : []
    this.#length = bytes.length - at
    return isTaken
  }

  /** @param {Buffer} bytes @param {number} start @param {number} body @param {number} end */
  #take (bytes, start, body, end) {
    const { isVersion5, hasRoom, take, pass } = this.#options
    const isPublish = bytes[start] >> 4 === PUBLISH
    const qos = bytes[start] >> 1 & 3
    if (isPublish && qos > 2) throw new MalformedPacket('has no QoS that there is')
    if (!isPublish || qos === 2) pass(bytes.subarray(start, end))
    else if (hasRoom()) take(publishOf(bytes, start, body, end, isVersion5))
    else return false
    return true
  }
}

/** @param {Buffer} bytes @param {number} start @param {number} body @param {number} end @param {boolean} isVersion5 @returns {Publish} */
function publishOf (bytes, start, body, end, isVersion5) {
  const flags = bytes[start]
  const qos = /** @type {0|1} */ (flags >> 1 & 1)
  const topicEnd = textEnd(bytes, body)
  const idEnd = topicEnd + 2 * qos
  const propertiesAt = isVersion5 ? numberEnd(bytes, idEnd) : idEnd
  const payloadAt = isVersion5 ? propertiesAt + numberAt(bytes, idEnd) : idEnd
  if (payloadAt > end) throw new MalformedPacket('is shorter than what it has')
  return {
    cmd: 'publish',
    topic: bytes.toString('utf8', body + 2, topicEnd),
    payload: bytes.subarray(payloadAt, end),
    qos,
    retain: (flags & 1) !== 0,
    dup: (flags & 8) !== 0,
    messageId: qos && bytes.readUInt16BE(topicEnd),
    properties: payloadAt > propertiesAt ? propertiesOf(bytes, propertiesAt, payloadAt) : undefined
  }
}

/** @param {Buffer} bytes @param {number} at @param {number} end @returns {Properties} */
function propertiesOf (bytes, at, end) {
  /** @type {Properties} */
  const properties = {}
  /** @type {number[]} */
  const subscriptions = []
  while (at < end) {
    const property = bytes[at++]
    const from = at
    if (property in FIXED_BYTES) at += FIXED_BYTES[property]
    else if (TEXTS.has(property)) at = textEnd(bytes, at)
    else if (property === USER) at = textEnd(bytes, textEnd(bytes, at))
    else if (property === SUBSCRIPTION) at = numberEnd(bytes, at)
    else throw new MalformedPacket(property === TOPIC_ALIAS ? 'has a topic alias, and none is agreed on' : `has property ${property}`)
    if (at > end) throw new MalformedPacket('has properties that are longer than it says')
    if (property === CONTENT_TYPE) {
      if (properties.contentType !== undefined) throw new MalformedPacket('has two content types')
      properties.contentType = bytes.toString('utf8', from + 2, at)
    } else if (property === SUBSCRIPTION) {
      const subscription = numberAt(bytes, from)
      if (subscription === 0) throw new MalformedPacket('has the subscription 0')
      subscriptions.push(subscription)
    }
  }
  if (subscriptions.length > 0) properties.subscriptionIdentifier = subscriptions.length > 1 ? subscriptions : subscriptions[0]
  return properties
}

/** Of two bytes of length and as many as they say. @param {Buffer} bytes @param {number} at */
function textEnd (bytes, at) {
  return at + 2 + (bytes[at] << 8 | bytes[at + 1])
}

/** Of a number in one to four bytes; behind all bytes where they do not have its end. @param {Buffer} bytes @param {number} at */
function numberEnd (bytes, at) {
  for (let length = 1; length <= MAX_NUMBER_BYTES; length++) {
    if (at + length > bytes.length) return bytes.length + 1
    if (bytes[at + length - 1] < 128) return at + length
  }
  throw new MalformedPacket('has a number of more than four bytes')
}

/** Of as many of its bytes as there are. @param {Buffer} bytes @param {number} at @returns {number} */
function numberAt (bytes, at) {
  const byte = bytes[at]
  return byte > 127 ? byte - 128 + 128 * numberAt(bytes, at + 1) : byte ?? 0
}
