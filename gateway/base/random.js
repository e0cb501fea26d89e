/**
 * Random numbers by index: the number at an index depends on the seed and the index alone, so that the same samples come however they are
 * cut into batches, and whatever was left out before them. Not for secrets.
 */

const GOLDEN = 0x9E3779B9
const TWO_TO_32 = 2 ** 32

/**
 * Evenly spread bits, after Chris Wellons' search for 32-bit hash functions ("lowbias32").
 * @param {number} bits
 * @returns {number} a signed 32-bit whole number
 */
export function mix (bits) {
  let x = bits ^ bits >>> 16
  x = Math.imul(x, 0x7FEB352D)
  x ^= x >>> 15
  x = Math.imul(x, 0x846CA68B)
  return x ^ x >>> 16
}

/** A seed for one of several sequences that have nothing in common. @param {number} seed @param {number} sequence */
export function derive (seed, sequence) {
  return mix(mix(seed + GOLDEN) + Math.imul(sequence + 1, GOLDEN))
}

/**
 * The state whose `mix` with a row's own number gives the bits of indices from `first` on: `mix(state + Math.imul(row, 0x9E3779B9))`. It
 * holds as long as the indices do not pass a multiple of 2³².
 * @param {number} seed
 * @param {number} first  up to 2⁵³
 */
export function stateAt (seed, first) {
  return derive(seed, Math.floor(first / TWO_TO_32)) + Math.imul(first, GOLDEN) | 0
}

/** The bits of the row-th index of a state. @param {number} state @param {number} row @returns {number} a signed 32-bit whole number */
export function bitsAt (state, row) {
  return mix(state + Math.imul(row, GOLDEN))
}

/** 0 to 1, without 1. @param {number} seed @param {number} index */
export function fractionAt (seed, index) {
  return (bitsAt(stateAt(seed, index), 0) >>> 0) / TWO_TO_32
}
