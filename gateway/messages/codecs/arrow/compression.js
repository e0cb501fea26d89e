import zlib from 'node:zlib'
import { MAX_BYTES, tooLarge } from '../../bounds.js'
import { arrowError } from './format.js'
import { unpackLz4 } from './lz4.js'

/** The buffers of a compressed record batch: each begins with its length, unless it was left as it was. */

const CODECS = [unpackLz4, unpackZstd]
const LENGTH_BYTES = 8
const AS_IT_WAS = -1n
/** Bytes that record batches may become in any message; more only where they were a sixteenth of it before. */
const FREE_BYTES = 2 ** 23
const MAX_GROWTH = 16

/** How many bytes may be unpacked from a message. @param {number} bytes  that it has */
export function roomToUnpack (bytes) {
  return Math.min(Math.max(FREE_BYTES, MAX_GROWTH * bytes), MAX_BYTES)
}

/**
 * What unpacks the buffers of a record batch; null where it is not compressed.
 * @param {import('./flatbuffer.js').Table|null} compression
 * @param {{bytes: number}} room  that what is unpacked may still take
 * @returns {((buffer: Buffer) => Buffer)|null}
 */
export function unpacker (compression, room) {
  if (!compression) return null
  const codec = compression.uint8(0)
  const unpack = CODECS[codec]
  if (!unpack || compression.uint8(1) !== 0) throw arrowError(`its record batches are compressed by method ${codec}; use LZ4, ZSTD or none`)
  return buffer => {
    if (buffer.length < LENGTH_BYTES) throw arrowError('a compressed buffer is cut short')
    const length = buffer.readBigInt64LE(0)
    const packed = buffer.subarray(LENGTH_BYTES)
    if (length === AS_IT_WAS || length === 0n) return length === 0n ? packed.subarray(0, 0) : packed
    if (length < 0n || length > room.bytes) throw tooLarge('its record batches are far smaller than what is unpacked from them')
    room.bytes -= Number(length)
    return unpack(packed, Number(length))
  }
}

/** @param {Buffer} packed @param {number} length */
function unpackZstd (packed, length) {
  // From 22.15 on.
  if (!zlib.zstdDecompressSync) {
    throw arrowError(`its record batches are compressed with ZSTD, which Node.js ${process.versions.node} does not know; use LZ4 or none`)
  }
  const bytes = zlib.zstdDecompressSync(packed, { maxOutputLength: length })
  if (bytes.length !== length) throw arrowError(`a compressed buffer has ${bytes.length} bytes instead of ${length}`)
  return bytes
}
