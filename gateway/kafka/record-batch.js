import { crc32c, Writer } from '@platformatic/kafka'
import { MAX_ROWS, tooLarge } from '../messages/bounds.js'
import { decompress } from './decompress.js'

/** @typedef {import('./group.js').KafkaMessage} KafkaMessage */

/** Up to where the length of the rest is known. */
const BEGIN_BYTES = 12
const LENGTH_AT = 8
export const HEAD_BYTES = 61
const VERSION = 2
/** The checksum, and where that begins of which it is. */
const [SUM_AT, SUMMED_AT] = [17, 21]

const COMPRESSION = 0x07
/** All records have the time at which the broker stored them. */
const HAS_BROKER_TIME = 0x08
export const IS_TRANSACTIONAL = 0x10
const IS_CONTROL = 0x20

const CUT_SHORT = 'a record is cut short'

/**
 * What a producer sent at once, as the log has it. Its head can be read without its records, which may be many more than one would think.
 */
export class RecordBatch {
  #bytes
  /** @type {boolean|undefined} */
  #isSound

  /** @param {Buffer} bytes */
  constructor (bytes) {
    this.#bytes = bytes
    this.first = bytes.readBigInt64BE(0)
    this.leaderEpoch = bytes.readInt32BE(12)
    this.next = this.first + BigInt(bytes.readInt32BE(23)) + 1n
    this.producerId = bytes.readBigInt64BE(43)
    const attributes = this.attributes = bytes.readInt16BE(21)
    this.isTransactional = (attributes & IS_TRANSACTIONAL) !== 0
    this.isControl = (attributes & IS_CONTROL) !== 0
  }

  get bytes () { return this.#bytes }

  /** Whether it is as it was written. */
  get isSound () { return this.#isSound ??= checksumOf(this.#bytes) === this.#bytes.readUInt32BE(SUM_AT) }

  /** @returns {KafkaMessage[]} @throws {Error} where they cannot be read */
  messages () {
    const bytes = this.#bytes
    if (!this.isSound) throw new Error('its checksum is wrong')
    const count = bytes.readInt32BE(57)
    if (count > MAX_ROWS) throw tooLarge(`it has ${count} records, over ${MAX_ROWS}`, 'Let the producer send fewer at once.')
    const algorithm = this.attributes & COMPRESSION
    const rest = bytes.subarray(HEAD_BYTES)
    const reader = new Records(algorithm === 0 ? rest : decompress(algorithm, rest))
    const within = { first: this.first, last: this.next - 1n }
    const [firstTime, lastTime] = [bytes.readBigInt64BE(27), bytes.readBigInt64BE(35)]
    const messages = []
    for (let i = 0; i < count; i++) {
      const { offsetDelta, timeDelta, ...record } = reader.record()
      const timestamp = this.attributes & HAS_BROKER_TIME ? lastTime : firstTime + timeDelta
      messages.push({ offset: this.first + offsetDelta, within, leaderEpoch: this.leaderEpoch, timestamp, ...record })
    }
    return messages
  }
}

/**
 * Those that are whole: what is cut off at the end comes with the next answer.
 * @param {Buffer} bytes
 * @returns {Generator<RecordBatch, void, void>}
 * @throws {Error} where there should be one, and is none
 */
export function * recordBatches (bytes) {
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const end = at + BEGIN_BYTES + bytes.readInt32BE(at + LENGTH_AT)
    const version = bytes.readInt8(at + 16)
    if (version !== VERSION || end < at + HEAD_BYTES) {
      if (at > 0) return
      throw new Error(`The log has no record batch of version ${VERSION} at offset ${bytes.readBigInt64BE(at)}.`)
    }
    if (end > bytes.length) return
    yield new RecordBatch(bytes.subarray(at, end))
    at = end
  }
}

/** States what it is, and how long, in a batch that is whole else. @param {Buffer} bytes @param {number} attributes */
export function seal (bytes, attributes) {
  bytes.writeInt32BE(bytes.length - BEGIN_BYTES, LENGTH_AT)
  bytes.writeInt16BE(attributes, SUMMED_AT)
  bytes.writeUInt32BE(checksumOf(bytes), SUM_AT)
  return bytes
}

/** The library copies what it is given, unless it comes in that form. @param {Buffer} bytes  of a batch */
function checksumOf (bytes) {
  return crc32c(Writer.create().append(bytes.subarray(SUMMED_AT)).dynamicBuffer)
}

/** Reads records one after the other. */
class Records {
  #bytes
  #at = 0

  /** @param {Buffer} bytes */
  constructor (bytes) { this.#bytes = bytes }

  record () {
    this.#number() // its length
    this.#at++ // attributes, of which there are none
    const timeDelta = BigInt(this.#number())
    const offsetDelta = BigInt(this.#number())
    const [key, value] = [this.#blob(), this.#blob()]
    /** @type {[Buffer|null, Buffer|null][]} */
    const headers = []
    for (let left = this.#number(); left > 0; left--) headers.push([this.#blob(), this.#blob()])
    return { timeDelta, offsetDelta, key, value, headers }
  }

  #blob () {
    const length = Number(this.#number())
    if (length < 0) return null
    const begin = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error(CUT_SHORT)
    return this.#bytes.subarray(begin, this.#at)
  }

  /** Seven bits a byte, the least first, and the sign as the lowest. @returns {any} a bigint where it has more than 28 */
  #number () {
    let low = 0
    let bits = 0
    for (; bits < 28; bits += 7) {
      const byte = this.#byte()
      low |= (byte & 0x7f) << bits
      if (byte < 0x80) return (low >>> 1) ^ -(low & 1)
    }
    let all = BigInt(low)
    for (let byte = 0x80; byte >= 0x80 && bits < 70; bits += 7) {
      byte = this.#byte()
      all |= BigInt(byte & 0x7f) << BigInt(bits)
    }
    return BigInt.asIntN(64, (all >> 1n) ^ -(all & 1n))
  }

  #byte () {
    if (this.#at >= this.#bytes.length) throw new Error(CUT_SHORT)
    return this.#bytes[this.#at++]
  }
}
