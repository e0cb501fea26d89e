import { arrowError } from './format.js'

/**
 * Decimals: whole ones are int64, those with decimals float64. What these do not hold to the last digit is refused.
 *
 * @typedef {import('./body.js').Body} Body
 * @typedef {import('./columns.js').ColumnKind} ColumnKind
 */

const MAX_SCALE = 76
const WORD_BITS = 64n
/** Digits of which a float64 holds any. */
const EXACT_DIGITS = 15

/** @param {{bits: number, scale: number, name: string}} type @returns {ColumnKind|null} null where it is not known */
export function decimals ({ bits, scale, name }) {
  if (![32, 64, 128, 256].includes(bits) || Math.abs(scale) > MAX_SCALE) return null
  const read = bits === 32 ? read32 : readWords(bits / 64)
  if (scale > 0) return { type: 'float64', read: converted(read, Float64Array, value => fraction(value, scale), scale, name) }
  const factor = 10n ** BigInt(-scale)
  return { type: 'int64', read: converted(read, BigInt64Array, value => inInt64(value * factor), scale, name) }
}

/**
 * @param {(body: Body, rows: number) => (row: number) => bigint} read
 * @param {any} Column @param {(value: bigint) => number|bigint|null} convert  null where it does not hold the value
 * @param {number} scale @param {string} name
 * @returns {ColumnKind['read']}
 */
function converted (read, Column, convert, scale, name) {
  return (body, rows, valid) => {
    const unscaled = read(body, rows)
    const column = new Column(rows)
    for (let row = 0; row < rows; row++) {
      if (valid && !valid[row]) continue
      const value = convert(unscaled(row))
      if (value === null) body.refuse(row, name, `${unscaled(row)}e${-scale}`, 'has more digits than a number holds')
      else column[row] = value
    }
    return column
  }
}

/** @param {Body} body @param {number} rows */
function read32 (body, rows) {
  const numbers = body.array(Int32Array, rows)
  return (/** @type {number} */ row) => BigInt(numbers[row])
}

/** @param {number} words  of 64 bits, the lowest first @returns {(body: Body, rows: number) => (row: number) => bigint} */
function readWords (words) {
  return (body, rows) => {
    const all = body.array(BigInt64Array, rows * words)
    return row => {
      let value = all[row * words + words - 1]
      for (let word = words - 2; word >= 0; word--) value = (value << WORD_BITS) | BigInt.asUintN(64, all[row * words + word])
      return value
    }
  }
}

/** @param {bigint} value */
function inInt64 (value) {
  return BigInt.asIntN(64, value) === value ? value : null
}

/** @param {bigint} value  without its point @param {number} scale */
function fraction (value, scale) {
  const number = Number(`${value}e-${scale}`)
  const digits = String(value).replace(/^-|0+$/g, '')
  if (digits.length <= EXACT_DIGITS) return number
  const printed = digits.length > 100 ? '' : Math.abs(number).toExponential(digits.length - 1).replace(/e.*|\./g, '')
  return printed === digits ? number : null
}

/** @param {import('./flatbuffer.js').Table|null} type @param {string} name */
export function decimalKind (type, name) {
  if (!type) throw arrowError(`column "${name}" has no type`)
  return decimals({ bits: type.int32(2) || 128, scale: type.int32(1), name })
}
