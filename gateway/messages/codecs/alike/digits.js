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
  const middle = Math.max(from, to - LOWER_DIGITS)
  return putBillions(halves, index, wholeOf(bytes, from, middle), wholeOf(bytes, middle, to), isNegative)
}

/** @param {Uint8Array} bytes @param {number} from @param {number} to  of at most 15 digits */
export function wholeOf (bytes, from, to) {
  let whole = 0
  for (let at = from; at < to; at++) whole = whole * 10 + bytes[at] - ZERO
  return whole
}

/**
 * @param {Uint32Array} halves  of int64s @param {number} index  of an int64
 * @param {number} billions  below 10^12 @param {number} rest  below a billion @param {boolean} isNegative
 * @returns {boolean} false: it does not fit
 */
export function putBillions (halves, index, billions, rest, isNegative) {
  let low = rest
  let high = 0
  if (billions > 0) {
    // In three parts, none of which is over 2^53.
    const upper = Math.floor(billions / TWO_16)
    const product1 = upper * BILLION
    const product0 = (billions - upper * TWO_16) * BILLION
    const shifted = Math.floor(product1 / TWO_16)
    const sum = (product1 - shifted * TWO_16) * TWO_16 + product0 + rest
    const carry = Math.floor(sum / TWO_32)
    low = sum - carry * TWO_32
    high = shifted + carry
  }
  if (high >= TWO_31 && !(isNegative && high === TWO_31 && low === 0)) return false
  halves[2 * index + LOW] = isNegative ? -low : low
  halves[2 * index + HIGH] = isNegative ? (low === 0 ? -high : ~high) : high
  return true
}
