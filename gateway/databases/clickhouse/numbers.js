/**
 * A column's numbers in the memory of another type, as Native has it.
 */

const LAST_SECOND = 2 ** 32 - 1

// 10^9 is 2^9 × 5^9, and nanoseconds without their last nine bits are exact in a double, up to the last second a DateTime holds.
const SHIFT = 9
const HIGH_SHIFTED = 2 ** (32 - SHIFT)
const FIVES = 5 ** 9

/**
 * @type
 *   {Record<string, Float64ArrayConstructor|Float32ArrayConstructor|Int32ArrayConstructor|Int16ArrayConstructor|Uint16ArrayConstructor|
 *   Uint8ArrayConstructor>}
 */
const ARRAYS = {
  Float64: Float64Array,
  Float32: Float32Array,
  Int32: Int32Array,
  Int16: Int16Array,
  UInt16: Uint16Array,
  UInt8: Uint8Array,
  Bool: Uint8Array
}

/**
 * @param {string} type  without Nullable
 * @param {any} column  whose every value the type holds
 * @returns {NodeJS.TypedArray}
 */
export function numbersAs (type, column) {
  if (type === 'Int64') return column instanceof BigInt64Array ? column : widened(column)
  const TypedArray = ARRAYS[type]
  return column instanceof TypedArray ? column : TypedArray.from(column)
}

/**
 * Whole numbers of 32 bits or less in 64, in halves: BigInts would cost ten times as much.
 * @param {Int32Array|Int16Array|Uint16Array} column
 */
function widened (column) {
  const halves = new Int32Array(2 * column.length)
  for (let row = 0; row < column.length; row++) {
    halves[2 * row] = column[row]
    halves[2 * row + 1] = column[row] >> 31
  }
  return halves
}

/**
 * Nanoseconds since 1970 in whole seconds, rounded down; those that a DateTime cannot hold become its first or last.
 * @param {BigInt64Array} time
 */
export function secondsOf (time) {
  const low = new Uint32Array(time.buffer, time.byteOffset, 2 * time.length)
  const high = new Int32Array(time.buffer, time.byteOffset, 2 * time.length)
  const seconds = new Uint32Array(time.length)
  for (let row = 0; row < time.length; row++) {
    const whole = Math.floor((high[2 * row + 1] * HIGH_SHIFTED + (low[2 * row] >>> SHIFT)) / FIVES)
    seconds[row] = whole < 0 ? 0 : whole > LAST_SECOND ? LAST_SECOND : whole
  }
  return seconds
}
