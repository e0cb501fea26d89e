/**
 * Texts that come again and again, such as names of devices: they are found by their bytes, not decoded each time, and are one string each.
 */

const SETS = 4096
const WAYS = 2
const MAX_BYTES = 64

const keptBytes = new Uint8Array(SETS * WAYS * MAX_BYTES)
const lengths = new Uint8Array(SETS * WAYS)
/** @type {string[]} */
const texts = new Array(SETS * WAYS).fill('')

/** The hash of a text with one byte more; it begins with 0. @param {number} hash @param {number} byte */
export function hashed (hash, byte) {
  return Math.imul(hash ^ byte, 0x01000193)
}

/**
 * The text of some bytes, in UTF-8.
 * @param {Buffer} bytes @param {number} from @param {number} to @param {number} hash  of all of them
 */
export function textOf (bytes, from, to, hash) {
  const length = to - from
  if (length > MAX_BYTES) return bytes.toString('utf8', from, to)
  const first = ((hash ^ (hash >>> 15)) & (SETS - 1)) * WAYS
  if (isKept(first, bytes, from, length)) return texts[first]
  const second = first + 1
  if (isKept(second, bytes, from, length)) return texts[second]
  // The newer one of a set is its first.
  lengths[second] = lengths[first]
  texts[second] = texts[first]
  keptBytes.copyWithin(second * MAX_BYTES, first * MAX_BYTES, second * MAX_BYTES)
  lengths[first] = length
  texts[first] = bytes.toString('utf8', from, to)
  for (let i = 0; i < length; i++) keptBytes[first * MAX_BYTES + i] = bytes[from + i]
  return texts[first]
}

/** @param {number} place @param {Buffer} bytes @param {number} from @param {number} length */
function isKept (place, bytes, from, length) {
  if (lengths[place] !== length) return false
  const start = place * MAX_BYTES
  for (let i = 0; i < length; i++) if (keptBytes[start + i] !== bytes[from + i]) return false
  return true
}
