import { compressionsAlgorithms, createAPI, ProduceAcks, produceV9, Writer } from '@platformatic/kafka'
import { HEAD_BYTES, IS_TRANSACTIONAL, seal } from './record-batch.js'

/**
 * Sends records as the library does, but writes them once, into memory that can be used again: the library copies a batch for its checksum,
 * too, and to collect so much garbage takes longer than to copy it.
 *
 * @typedef {import('../messages/codecs/arrow/encode.js').Bytes} Bytes
 * @typedef {{topic: string, partition: number, key: Buffer, value: Bytes|null, headers: Map<Buffer, Buffer>}} KafkaRecord
 * @typedef {{producerId: bigint, producerEpoch: number, sequence: number}} Origin
 * @typedef {keyof typeof compressionsAlgorithms} Compression
 * @typedef {{topic: string, partition: number, bytes: Buffer}} Produced  a batch of records
 */

const VERSION = 2

/** The time of a record that has none: brokers whose clock is far from this one's refuse any other. */
export const NO_TIME = -1n
export const UNTIMELY = 'INVALID_TIMESTAMP'

/** What the records of a partition take before they are compressed. @param {KafkaRecord[]} records */
export function sizeOf (records) {
  return records.reduce((sum, record, i) => {
    const size = bodyBytes(record, i)
    return sum + numberBytes(size) + size
  }, HEAD_BYTES)
}

/**
 * As a batch of a transaction.
 * @param {KafkaRecord[]} records  of one partition
 * @param {Buffer} memory  of that size
 * @param {Origin} origin
 * @param {Compression} compression
 * @param {bigint} [time]
 * @returns {Promise<Buffer>} that memory, or less
 */
export async function written (records, memory, { producerId, producerEpoch, sequence }, compression, time = BigInt(Date.now())) {
  memory.writeBigInt64BE(0n, 0)
  memory.writeInt32BE(0, 12)
  memory.writeInt8(VERSION, 16)
  memory.writeInt32BE(records.length - 1, 23)
  memory.writeBigInt64BE(time, 27)
  memory.writeBigInt64BE(time, 35)
  memory.writeBigInt64BE(producerId, 43)
  memory.writeInt16BE(producerEpoch, 51)
  memory.writeInt32BE(sequence, 53)
  memory.writeInt32BE(records.length, 57)
  const out = new Out(memory)
  for (const [i, record] of records.entries()) out.record(record, i)
  const { bitmask, ...algorithm } = compressionsAlgorithms[compression]
  const compress = 'compress' in algorithm ? algorithm.compress : algorithm.compressSync
  const bytes = bitmask === 0
    ? memory
    : Buffer.concat([memory.subarray(0, HEAD_BYTES), await compress(memory.subarray(HEAD_BYTES))])
  return seal(bytes, IS_TRANSACTIONAL | bitmask)
}

/** Puts records down one after the other. */
class Out {
  #bytes
  #at = HEAD_BYTES

  /** @param {Buffer} bytes */
  constructor (bytes) { this.#bytes = bytes }

  /** @param {KafkaRecord} record @param {number} i */
  record (record, i) {
    this.#number(bodyBytes(record, i))
    this.#bytes[this.#at++] = 0 // attributes, of which there are none
    this.#number(0) // of the batch's time
    this.#number(i)
    this.#blob(record.key)
    this.#blob(record.value)
    this.#number(record.headers.size)
    for (const header of record.headers) for (const blob of header) this.#blob(blob)
  }

  /** @param {Bytes|null} blob */
  #blob (blob) {
    this.#number(blob ? blob.length : -1)
    if (!blob) return
    blob.copy(this.#bytes, this.#at)
    this.#at += blob.length
  }

  /** Seven bits a byte, the least first, and the sign as the lowest. @param {number} number */
  #number (number) {
    let left = (number << 1) ^ (number >> 31)
    for (; left > 0x7f; left >>>= 7) this.#bytes[this.#at++] = left & 0x7f | 0x80
    this.#bytes[this.#at++] = left
  }
}

/** @param {KafkaRecord} record @param {number} i */
function bodyBytes ({ key, value, headers }, i) {
  let bytes = 2 + numberBytes(i) + blobBytes(key) + blobBytes(value) + numberBytes(headers.size)
  for (const header of headers) for (const blob of header) bytes += blobBytes(blob)
  return bytes
}

/** @param {Bytes|null} blob */
function blobBytes (blob) {
  return blob ? numberBytes(blob.length) + blob.length : 1
}

/** @param {number} number  not negative */
function numberBytes (number) {
  let bytes = 1
  for (let left = number >>> 6; left > 0; left >>>= 7) bytes++
  return bytes
}

/** @param {string} transactionalId @param {number} timeoutMs @param {Produced[]} batches */
function request (transactionalId, timeoutMs, batches) {
  const topics = [...Map.groupBy(batches, ({ topic }) => topic)]
  return Writer.create()
    .appendString(transactionalId)
    .appendInt16(ProduceAcks.ALL)
    .appendInt32(timeoutMs)
    .appendArray(topics, (_topics, [topic, its]) => {
      _topics.appendString(topic).appendArray(its, (writer, { partition, bytes }) => {
        writer.appendInt32(partition).appendBytes(bytes)
      })
    })
    .appendTaggedFields()
}

/** @type {import('./client.js').Api} */
export const produceApi = createAPI(produceV9.api.key, produceV9.api.version, request, produceV9.parseResponse)
