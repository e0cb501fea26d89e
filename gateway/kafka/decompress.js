import zlib from 'node:zlib'
import { compressionsAlgorithmsByBitmask } from '@platformatic/kafka'
import { tooLarge } from '../messages/bounds.js'

/**
 * Decompresses the records of a batch. A few kilobytes can stand for gigabytes: how long the records are is known before the memory for
 * them is taken.
 */

/** Of a batch whose records are not compressed, brokers accept one MiB. */
const MAX_BYTES = 2 ** 26

const NOT_WHOLE = 'it is not whole'
const TOO_LARGE = 'SLUICE_MESSAGE_TOO_LARGE'

/** By the number that a batch has for each. @type {Record<number, (bytes: Buffer) => Buffer>} */
const ALGORITHMS = {
  1: bytes => zlib.gunzipSync(bytes, { maxOutputLength: MAX_BYTES }),
  2: bytes => measured(2, bytes, snappyLength(bytes)),
  3: bytes => measured(3, bytes, lz4Length(bytes)),
  4: bytes => zlib.zstdDecompressSync(bytes, { maxOutputLength: MAX_BYTES })
}

/** @param {number} algorithm @param {Buffer} bytes @returns {Buffer} */
export function decompress (algorithm, bytes) {
  const its = ALGORITHMS[algorithm]
  if (!its) throw new Error(`compression ${algorithm} is not known`)
  try {
    return its(bytes)
  } catch (error) {
    const { code } = /** @type {any} */ (error)
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooMany()
    throw code === TOO_LARGE ? error : new Error('its records cannot be decompressed', { cause: error })
  }
}

/** @param {number} algorithm @param {Buffer} bytes @param {number} length  that is stated in them */
function measured (algorithm, bytes, length) {
  if (length > MAX_BYTES) throw tooMany()
  return compressionsAlgorithmsByBitmask[/** @type {1} */ (algorithm)].decompressSync(bytes)
}

function tooMany () {
  return tooLarge(`its records are over ${MAX_BYTES} bytes once they are decompressed`, 'Let the producer send fewer at once.')
}

/** Of the blocks of Java's clients, with lengths between them: eight bytes, and two versions. */
const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const XERIAL_HEAD = 16

/** @param {Buffer} bytes */
function snappyLength (bytes) {
  if (!bytes.subarray(0, XERIAL.length).equals(XERIAL)) return snappyBlockLength(bytes, 0)
  let length = 0
  for (let at = XERIAL_HEAD; at < bytes.length;) {
    length += snappyBlockLength(bytes, at + 4)
    at += 4 + bytes.readUInt32BE(at)
  }
  return length
}

/** A block begins with its length. @param {Buffer} bytes @param {number} at */
function snappyBlockLength (bytes, at) {
  let length = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes.readUInt8(at++)
    length += (byte & 0x7f) * factor
    if (byte < 0x80) return length
  }
}

const LZ4_FRAME = 0x184d2204
/** Of the first byte of a frame's head. */
const [HAS_BLOCK_SUMS, HAS_LENGTH, HAS_SUM, HAS_DICTIONARY] = [0x10, 0x08, 0x04, 0x01]
const IS_STORED = 0x80000000
const SHORTEST_MATCH = 4

/** @param {Buffer} bytes */
function lz4Length (bytes) {
  let length = 0
  for (let at = 0; at < bytes.length;) {
    if (bytes.readUInt32LE(at) !== LZ4_FRAME) throw new Error(NOT_WHOLE)
    const flags = bytes.readUInt8(at + 4)
    at += 7 + (flags & HAS_LENGTH ? 8 : 0) + (flags & HAS_DICTIONARY ? 4 : 0)
    for (let size; (size = bytes.readUInt32LE(at)) !== 0;) {
      const end = at + 4 + (size & ~IS_STORED)
      if (end > bytes.length) throw new Error(NOT_WHOLE)
      length += size & IS_STORED ? end - at - 4 : lz4BlockLength(bytes.subarray(at + 4, end))
      at = end + (flags & HAS_BLOCK_SUMS ? 4 : 0)
    }
    at += 4 + (flags & HAS_SUM ? 4 : 0)
  }
  return length
}

/** What its sequences of literals and matches stand for. @param {Buffer} block */
function lz4BlockLength (block) {
  let length = 0
  let at = 0
  const more = (/** @type {number} */ count) => {
    if (count < 15) return count
    let byte
    do count += byte = block.readUInt8(at++)
    while (byte === 255)
    return count
  }
  while (at < block.length) {
    const token = block[at++]
    const literals = more(token >> 4)
    at += literals
    length += literals
    if (at >= block.length) break
    at += 2
    length += more(token & 15) + SHORTEST_MATCH
  }
  return length
}
