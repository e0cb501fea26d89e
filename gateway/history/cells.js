/**
 * A number in two bytes: sign, 6 bits of exponent, 9 of fraction, cut out of the middle of a 32-bit float. Whole numbers up to 1024 are
 * exact, all others to 0.1 %, from 1.5e-5 (what is less is 0) to 2.8e14 (more is that). Two bytes and not four: with four, 2000 series do
 * not fit into the 64 MB.
 *
 * No value is 0, so that new memory is a gap; the value 0 is −0.
 */
const ZERO = 0x8000
const SIGN = 0x8000
const GREATEST = 0x7fff
/** Fraction bits of the float that are left out, and half of the last that is kept. */
const DROPPED_BITS = 14
const HALF = 1 << DROPPED_BITS - 1
/** From our exponents, which begin at 2^-16, to the float's. */
const BIAS = 127 - 16 << 9

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** @param {unknown} value  what is no number is a gap */
export function toCell (value) {
  if (typeof value !== 'number' || Number.isNaN(value)) return 0
  float[0] = Math.abs(value)
  const cell = Math.min((bits[0] + HALF >>> DROPPED_BITS) - BIAS, GREATEST)
  return cell < 1 ? ZERO : value < 0 ? cell | SIGN : cell
}

/** Of a cell that is no gap. @param {number} cell */
export function fromCell (cell) {
  if (cell === ZERO) return 0
  bits[0] = (cell & GREATEST) + BIAS << DROPPED_BITS
  return cell & SIGN ? -float[0] : float[0]
}
