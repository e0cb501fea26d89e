import { crc32 } from 'node:zlib'

/**
 * How the log of a spool is written: segment files, each a preamble and records behind each other (little endian).
 *
 *     preamble := "SLUICE", version u16, key[8], created f64 (ms since 1970), crc32 of these u32
 *     record   := header, payload[length]
 *     header   := marker u32, length u32, rows u32, kind u32, stream f64, seq f64, before f64, sum f64, hash f64, crc32 of these u32
 *
 * Marker and checksum depend on the file's random key, so that bytes inside a payload, whoever made them, are never taken for a record.
 * `stream` is the hash of the introduction of source and epoch, `before` the rows of the source and `sum` the hashes of the epoch before
 * this record, `hash` that of the payload. The numbers are whole and exact in an f64.
 */
export const VERSION = 2
export const PREAMBLE_BYTES = 28
export const HEADER_BYTES = 60
export const KEY_BYTES = 8

export const Kind = Object.freeze({
  batch: 1,
  /** JSON [gateway, source, epoch]; seq, before and sum are those of the next record of that stream. */
  introduction: 2,
  /** JSON {count, replaces: [[epoch, seq], …]}: so many records of the stream, from this seq on, are these again. */
  restaging: 3
})

const MAGIC = Buffer.from('SLUICE')
const CHECKED_BYTES = HEADER_BYTES - 4

/**
 * @typedef {object} Header
 * @property {number} length  of the payload
 * @property {number} rows
 * @property {number} kind
 * @property {number} stream
 * @property {number} seq
 * @property {number} before
 * @property {number} sum
 * @property {number} hash
 */

/** @param {Uint8Array} key @param {number} createdMs */
export function preambleOf (key, createdMs) {
  const bytes = Buffer.alloc(PREAMBLE_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt16LE(VERSION, 6)
  bytes.set(key, 8)
  bytes.writeDoubleLE(createdMs, 16)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 24)), 24)
  return bytes
}

/** What a file says of itself; null where that is damaged. @param {Buffer} bytes */
export function readPreamble (bytes) {
  if (bytes.length < PREAMBLE_BYTES || !bytes.subarray(0, 6).equals(MAGIC)) return null
  if (bytes.readUInt32LE(24) !== crc32(bytes.subarray(0, 24))) return null
  return { version: bytes.readUInt16LE(6), key: Buffer.from(bytes.subarray(8, 16)), createdMs: bytes.readDoubleLE(16) }
}

/** Writes and reads the headers of one file's records. */
export class Headers {
  #seed
  #words = new Uint32Array(HEADER_BYTES / 4 + 1)
  #numbers = new Float64Array(this.#words.buffer)
  #bytes = new Uint8Array(this.#words.buffer)
  #checked = this.#bytes.subarray(0, CHECKED_BYTES)
  #header = this.#bytes.subarray(0, HEADER_BYTES)

  /** @param {Buffer} key */
  constructor (key) {
    this.marker = key.subarray(0, 4)
    this.#seed = key.readUInt32LE(4)
    this.#words[0] = key.readUInt32LE(0)
  }

  /** @param {Uint8Array} target @param {number} at @param {Header} header */
  write (target, at, { length, rows, kind, stream, seq, before, sum, hash }) {
    const words = this.#words
    const numbers = this.#numbers
    words[1] = length
    words[2] = rows
    words[3] = kind
    numbers[2] = stream
    numbers[3] = seq
    numbers[4] = before
    numbers[5] = sum
    numbers[6] = hash
    words[14] = crc32(this.#checked, this.#seed)
    target.set(this.#header, at)
  }

  /** The header at the start of these bytes; null where there is none. @param {Buffer} bytes @returns {Header|null} */
  read (bytes) {
    if (bytes.length < HEADER_BYTES || bytes.compare(this.marker, 0, 4, 0, 4) !== 0 || !this.#isSound(bytes)) return null
    return {
      length: bytes.readUInt32LE(4),
      rows: bytes.readUInt32LE(8),
      kind: bytes.readUInt32LE(12),
      stream: bytes.readDoubleLE(16),
      seq: bytes.readDoubleLE(24),
      before: bytes.readDoubleLE(32),
      sum: bytes.readDoubleLE(40),
      hash: bytes.readDoubleLE(48)
    }
  }

  /**
   * The header that these bytes were before one bit of them was flipped; null where that is not what happened. Only for where a record
   * must begin: of other bytes, one in ten million would seem to be one.
   * @param {Buffer} bytes
   */
  repair (bytes) {
    if (bytes.length < HEADER_BYTES) return null
    const copy = Buffer.from(bytes.subarray(0, HEADER_BYTES))
    for (let bit = 0; bit < HEADER_BYTES * 8; bit++) {
      copy[bit >> 3] ^= 1 << (bit & 7)
      const header = this.read(copy)
      if (header) return header
      copy[bit >> 3] ^= 1 << (bit & 7)
    }
    return null
  }

  /** @param {Buffer} bytes */
  #isSound (bytes) {
    return bytes.readUInt32LE(CHECKED_BYTES) === crc32(bytes.subarray(0, CHECKED_BYTES), this.#seed)
  }
}
