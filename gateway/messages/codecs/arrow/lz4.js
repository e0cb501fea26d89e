import { arrowError } from './format.js'

/** LZ4 frames: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md. Checksums are passed over: what carries a message has its own. */

const MAGIC = 0x184d2204
const Flag = { version: 0xc0, blockChecksum: 0x10, contentSize: 0x08, dictionary: 0x01 }
const VERSION = 0x40
const IS_STORED = 0x80000000
/** A byte of a block stands for no more. */
const MAX_RATIO = 255
const MIN_MATCH = 4

/**
 * @param {Buffer} frame @param {number} length  of what is in it
 * @returns {Buffer}
 * @throws {import('../../../base/errors.js').SluiceError} SLUICE_CODEC_ARROW where it is something else, before it takes the memory
 */
export function unpackLz4 (frame, length) {
  if (length > frame.length * MAX_RATIO) throw broken()
  const flags = frame[4]
  if (frame.length < 7 || frame.readUInt32LE(0) !== MAGIC || (flags & Flag.version) !== VERSION || flags & Flag.dictionary) throw broken()
  const checksumBytes = flags & Flag.blockChecksum ? 4 : 0
  let at = 7 + (flags & Flag.contentSize ? 8 : 0)
  const out = Buffer.alloc(length)
  let end = 0
  for (;;) {
    if (at + 4 > frame.length) throw broken()
    const size = frame.readUInt32LE(at)
    at += 4
    if (size === 0) break
    const isStored = size >= IS_STORED
    const block = frame.subarray(at, at + (isStored ? size - IS_STORED : size))
    if (block.length < (isStored ? size - IS_STORED : size)) throw broken()
    end = isStored ? store(block, out, end) : unpackBlock(block, out, end)
    at += block.length + checksumBytes
  }
  if (end !== length) throw broken()
  return out
}

/** @param {Buffer} block @param {Buffer} out @param {number} to  where it goes @returns {number} where it ends */
function store (block, out, to) {
  if (to + block.length > out.length) throw broken()
  out.set(block, to)
  return to + block.length
}

/**
 * A block may refer to those before.
 * @param {Buffer} block @param {Buffer} out @param {number} to  where it goes
 * @returns {number} where it ends
 */
function unpackBlock (block, out, to) {
  let at = 0
  /** @param {number} length  of which 15 means that more follows */
  const extended = length => {
    if (length < 15) return length
    for (;;) {
      if (at >= block.length) throw broken()
      const more = block[at++]
      length += more
      if (more < 255) return length
    }
  }
  while (at < block.length) {
    const token = block[at++]
    const literals = extended(token >> 4)
    if (at + literals > block.length || to + literals > out.length) throw broken()
    out.set(block.subarray(at, at + literals), to)
    at += literals
    to += literals
    if (at === block.length) return to
    if (at + 2 > block.length) throw broken()
    const distance = block.readUInt16LE(at)
    at += 2
    const length = extended(token & 15) + MIN_MATCH
    if (distance === 0 || distance > to || to + length > out.length) throw broken()
    // Byte by byte, as it may repeat what it has just written.
    for (const last = to + length; to < last; to++) out[to] = out[to - distance]
  }
  return to
}

function broken () {
  return arrowError('a buffer is not the LZ4 frame that it should be')
}
