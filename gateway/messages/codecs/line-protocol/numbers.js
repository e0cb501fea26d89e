/**
 * Writes numbers as decimal digits. Each function returns where the next character goes.
 */

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e

const BILLION = 1e9
const TWO_16 = 2 ** 16
const TWO_32 = 2 ** 32

// Typed arrays hold the two halves of an int64 in the machine's own order.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

/** The most characters of a float64, more than those of an int64. */
export const NUMBER_BYTES = 25

/** Many decimals of sensors are short; three are found without searching for the shortest form. */
const SCALE = 1000
const SCALED_LIMIT = 2 ** 52

/** @param {Uint8Array} buffer @param {number} at @param {number} value  whole, from 0 to 2^53 */
export function putWhole (buffer, at, value) {
  if (value < BILLION) return putSmall(buffer, at, value)
  const high = Math.floor(value / BILLION)
  return putNine(buffer, putSmall(buffer, at, high), value - high * BILLION)
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value  whole, below 2^53 on either side of 0 */
export function putInteger (buffer, at, value) {
  if (value >= 0) return putWhole(buffer, at, value)
  buffer[at] = MINUS
  return putWhole(buffer, at + 1, -value)
}

/** @param {BigInt64Array} column @returns {(buffer: Uint8Array, at: number, row: number) => number} */
export function int64Writer (column) {
  // In halves: BigInt arithmetic would take ten times as long.
  const halves = new Uint32Array(column.buffer, column.byteOffset, column.length * 2)
  const known = new Uint8Array(NUMBER_BYTES)
  // Times of a batch are close together: all but nine digits are mostly those of the number before, from `baseHigh` and `baseLow` on.
  let [baseHigh, baseLow, digits] = [0, 0, 0]
  return (buffer, at, row) => {
    const high = halves[2 * row + HIGH]
    const low = halves[2 * row + LOW]
    if (high >= 2 ** 31) {
      buffer[at] = MINUS
      const { billions, rest } = divided((low === 0 ? -high : ~high) >>> 0, -low >>> 0)
      return billions === 0 ? putSmall(buffer, at + 1, rest) : putNine(buffer, putWhole(buffer, at + 1, billions), rest)
    }
    let rest = (high - baseHigh) * TWO_32 + (low - baseLow)
    if (rest < 0 || rest >= BILLION) {
      const { billions, rest: remaining } = divided(high, low)
      digits = billions === 0 ? 0 : putWhole(known, 0, billions)
      rest = remaining
      baseHigh = low < rest ? high - 1 : high
      baseLow = low - rest >>> 0
    }
    for (let i = 0; i < digits; i++) buffer[at + i] = known[i]
    return digits === 0 ? putSmall(buffer, at, rest | 0) : putNine(buffer, at + digits, rest | 0)
  }
}

/**
 * Long division by a billion, with intermediate values of at most 46 bits, which a double holds exactly.
 * @param {number} high
 * @param {number} low
 */
function divided (high, low) {
  const high0 = Math.floor(high / BILLION)
  const upper = (high - high0 * BILLION) * TWO_16 + (low >>> 16)
  const high1 = Math.floor(upper / BILLION)
  const lower = (upper - high1 * BILLION) * TWO_16 + (low & 0xffff)
  const high2 = Math.floor(lower / BILLION)
  return { billions: high0 * TWO_32 + high1 * TWO_16 + high2, rest: lower - high2 * BILLION }
}

/** The shortest form that is read back as the same number. @param {Uint8Array} buffer @param {number} at @param {number} value  finite */
export function putFloat (buffer, at, value) {
  const scaled = Math.round(value * SCALE)
  if (scaled / SCALE === value && scaled < SCALED_LIMIT && scaled > -SCALED_LIMIT) return putScaled(buffer, at, value, scaled)
  const text = String(value)
  for (let i = 0; i < text.length; i++) buffer[at + i] = text.charCodeAt(i)
  return at + text.length
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value @param {number} scaled  in thousandths */
function putScaled (buffer, at, value, scaled) {
  if (value < 0 || Object.is(value, -0)) buffer[at++] = MINUS
  const thousandths = Math.abs(scaled)
  const whole = Math.floor(thousandths / SCALE)
  at = putWhole(buffer, at, whole)
  const fraction = thousandths - whole * SCALE
  if (fraction === 0) return at
  buffer[at++] = POINT
  const tenths = fraction / 100 | 0
  const hundredths = (fraction / 10 | 0) - tenths * 10
  const last = fraction % 10
  buffer[at++] = ZERO + tenths
  if (hundredths + last > 0) buffer[at++] = ZERO + hundredths
  if (last > 0) buffer[at++] = ZERO + last
  return at
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value  below a billion */
function putSmall (buffer, at, value) {
  let end = at + 1
  for (let limit = 10; value >= limit; limit *= 10) end++
  for (let i = end - 1; i >= at; i--) {
    const rest = value / 10 | 0
    buffer[i] = ZERO + value - rest * 10
    value = rest
  }
  return end
}

/** Nine digits, with zeros before. @param {Uint8Array} buffer @param {number} at @param {number} value  below a billion */
function putNine (buffer, at, value) {
  for (let i = at + 8; i >= at; i--) {
    const rest = value / 10 | 0
    buffer[i] = ZERO + value - rest * 10
    value = rest
  }
  return at + 9
}
