/** Reads whole numbers from decimal digits, as halves of an int64: BigInt would be an object a value. */

const ZERO = 0x30
const BILLION = 1e9
const TWO_16 = 2 ** 16
const TWO_31 = 2 ** 31
const TWO_32 = 2 ** 32
/** Digits below a billion. */
const LOWER_DIGITS = 9

// Typed arrays hold the two halves of an int64 in the machine's own order.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

export const MAX_DIGITS = 20

/**
 * @param {Uint32Array} halves  of int64s @param {number} index  of an int64
 * @param {Uint8Array} bytes @param {number} from @param {number} to  of at most `MAX_DIGITS` digits @param {boolean} isNegative
 * @returns {boolean} false: it does not fit
 */
export function putDigits (halves, index, bytes, from, to, isNegative) {
  let upper = 0
  let lower = 0
  let at = from
  for (; at < to - LOWER_DIGITS; at++) upper = upper * 10 + bytes[at] - ZERO
  for (; at < to; at++) lower = lower * 10 + bytes[at] - ZERO
  let low = lower
  let high = 0
  if (upper > 0) {
    // upper * billion + lower in three parts, none of which is over 2^53.
    const upper1 = Math.floor(upper / TWO_16)
    const product1 = upper1 * BILLION
    const product0 = (upper - upper1 * TWO_16) * BILLION
    const shifted = Math.floor(product1 / TWO_16)
    const rest = (product1 - shifted * TWO_16) * TWO_16 + product0 + lower
    const carry = Math.floor(rest / TWO_32)
    low = rest - carry * TWO_32
    high = shifted + carry
  }
  if (high >= TWO_31 && !(isNegative && high === TWO_31 && low === 0)) return false
  halves[2 * index + LOW] = isNegative ? -low : low
  halves[2 * index + HIGH] = isNegative ? (low === 0 ? -high : ~high) : high
  return true
}
