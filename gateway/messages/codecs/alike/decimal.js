/**
 * The number nearest to a decimal of up to 19 digits, as sensors and programs print most of theirs: without a text, four times as fast as
 * `Number`. What it cannot decide it leaves to that.
 */

const [POINT, ZERO] = Buffer.from('.0')

/** Digits that a number holds exactly, whichever they are. */
const UPPER_DIGITS = 15
const MAX_DIGITS = 19
/** Those that a number holds exactly. */
export const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/** Above the error of a quotient in two parts, which is below 2^-90 of it. */
const ERROR = 2 ** -85
/** Splits a number into halves of which products are exact (Veltkamp, Dekker). */
const SPLITTER = 2 ** 27 + 1

/**
 * @param {Uint8Array} bytes @param {number} from @param {number} to  digits, a point among them perhaps
 * @param {number} decimals  how many are behind the point
 * @returns {number} NaN where it has too many digits, or is too close to the middle of two numbers
 */
export function nearest (bytes, from, to, decimals) {
  let upper = 0
  let lower = 0
  let digits = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at]
    if (byte === POINT || (byte === ZERO && digits === 0)) continue
    if (digits < UPPER_DIGITS) upper = upper * 10 + byte - ZERO
    else lower = lower * 10 + byte - ZERO
    digits++
  }
  if (digits > MAX_DIGITS || decimals >= POWERS_OF_TEN.length) return NaN
  const scale = POWERS_OF_TEN[Math.max(0, digits - UPPER_DIGITS)]
  const divisor = POWERS_OF_TEN[decimals]
  // The dividend, then the quotient, are exact as a number and what it lacks.
  const dividend = upper * scale
  const first = dividend / divisor
  const product = first * divisor
  const rest = dividend - product + (lackOf(upper, scale, dividend) + lower - lackOf(first, divisor, product))
  const second = rest / divisor
  const error = first * ERROR
  const least = first + (second - error)
  return least === first + (second + error) ? least : NaN
}

/** What the product of two numbers lacks, exactly. @param {number} a @param {number} b @param {number} product */
function lackOf (a, b, product) {
  const shiftedA = SPLITTER * a
  const highA = shiftedA - (shiftedA - a)
  const lowA = a - highA
  const shiftedB = SPLITTER * b
  const highB = shiftedB - (shiftedB - b)
  const lowB = b - highB
  return highA * highB - product + highA * lowB + lowA * highB + lowA * lowB
}
