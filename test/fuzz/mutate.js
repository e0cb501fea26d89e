/** @typedef {import('./random.js').Random} Random */

/** The longest message that is tried, in bytes. */
export const MAX_BYTES = 64 * 1024

const LENGTHS = [0, 1, -1, 127, 128, 255, 256, 0x7fff, 0xffff, 0x10000, 0x7fffffff, -0x80000000, 0x00ffffff, 1_000_000]
const EDGES = [0, 1, 0x7f, 0x80, 0xff, 0x22, 0x5c, 0x0a, 0x2c, 0x3d, 0x20, 0x5b, 0x7b, 0x23, 0x2e]

/** @type {((random: Random, bytes: Buffer, other: Buffer) => Buffer)[]} */
const MUTATIONS = [
  function flip (random, bytes) {
    bytes[random.below(bytes.length)] ^= 1 << random.below(8)
    return bytes
  },
  function edge (random, bytes) {
    bytes[random.below(bytes.length)] = random.pick(EDGES)
    return bytes
  },
  function length (random, bytes) {
    if (bytes.length < 4) return bytes
    const at = random.below(bytes.length - 3)
    bytes.writeInt32LE(random.pick(LENGTHS), random.oneIn(2) ? at : at & ~3)
    return bytes
  },
  function truncate (random, bytes) {
    return bytes.subarray(0, random.below(bytes.length + 1))
  },
  function remove (random, bytes) {
    const from = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.small(bytes.length))])
  },
  function repeat (random, bytes) {
    const from = random.below(bytes.length)
    const part = bytes.subarray(from, from + 1 + random.small(bytes.length))
    const times = Math.min(random.oneIn(50) ? 10_000 : 1 + random.small(20), Math.floor(MAX_BYTES / part.length))
    return Buffer.concat([bytes.subarray(0, from), ...new Array(times).fill(part), bytes.subarray(from)])
  },
  function insert (random, bytes) {
    const at = random.below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), random.bytes(1 + random.small(16)), bytes.subarray(at)])
  },
  function splice (random, bytes, other) {
    const at = random.below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), other.subarray(random.below(other.length + 1))])
  },
  function copyWithin (random, bytes) {
    const from = random.below(bytes.length)
    bytes.copyWithin(random.below(bytes.length), from, from + 1 + random.small(16))
    return bytes
  }
]

/**
 * A sample with some changes.
 * @param {Random} random @param {readonly Buffer[]} samples
 */
export function mutated (random, samples) {
  /** @type {Buffer} */
  let bytes = Buffer.from(random.pick(samples))
  const times = 1 + random.small(8)
  for (let i = 0; i < times && bytes.length > 0; i++) bytes = random.pick(MUTATIONS)(random, bytes, random.pick(samples))
  return Buffer.from(bytes.subarray(0, MAX_BYTES))
}
