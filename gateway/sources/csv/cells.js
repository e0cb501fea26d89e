/**
 * The values of a CSV file's cells.
 *
 * @typedef {'float64'|'int64'|'bool'|'string'} CellType
 * @typedef {(text: string) => number|bigint|string|undefined} ReadCell  undefined: it is not such a value
 */

const WHOLE = /^[+-]?\d{1,19}$/
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i
const LEADING_ZERO = /^[+-]?0\d/
const LONG_WHOLE = /^[+-]?\d{16,}$/
const GROUPED = /^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/
const INT64 = [-(2n ** 63n), 2n ** 63n - 1n]
const BOOLS = new Map([['true', 1], ['false', 0], ['yes', 1], ['no', 0], ['on', 1], ['off', 0], ['1', 1], ['0', 0]])

/** What people and programs write where a number is missing. */
const NO_VALUE = new Set(['', 'nan', 'null', 'na', 'n/a', 'none', '-'])

/** Whether a cell stands for a missing value; for a text, only an empty cell does. @param {string} text  trimmed @param {CellType} type */
export function isMissing (text, type) {
  return text === '' || (type !== 'string' && NO_VALUE.has(text.toLowerCase()))
}

/** What reads the cells of a type. @param {CellType} type @param {string} decimal  '.' or ',' @returns {ReadCell} */
export function cellReader (type, decimal) {
  return readers[type](decimal)
}

/** What is wrong with a bad cell of a type. @type {Record<CellType, string>} */
export const COMPLAINTS = {
  float64: 'not a number',
  int64: 'not a whole number of 64 bits',
  bool: 'neither true nor false',
  string: 'not a text'
}

/**
 * The type that all cells of a column have: int64, bool, float64, otherwise string. Numbers that a float64 cannot tell apart, and those
 * with leading zeros, are texts.
 * @param {string[]} cells  trimmed
 * @param {string} decimal
 * @returns {CellType}
 */
export function typeOf (cells, decimal) {
  const there = cells.filter(text => !isMissing(text, 'float64'))
  if (there.length === 0) return 'float64'
  const fits = (/** @type {CellType} */ type) => {
    const read = cellReader(type, decimal)
    return there.every(text => read(text) !== undefined)
  }
  if (there.some(text => LEADING_ZERO.test(text) && WHOLE.test(text))) return 'string'
  if (fits('int64')) return 'int64'
  if (fits('bool')) return 'bool'
  return fits('float64') && !there.some(text => LONG_WHOLE.test(plain(text, decimal))) ? 'float64' : 'string'
}

/**
 * A number with a point as its decimal sign and nothing else. Where a comma is that sign, a point separates thousands, or it is no number:
 * it is never read as the other.
 * @param {string} text @param {string} decimal
 */
function plain (text, decimal) {
  if (decimal !== ',') return text
  return GROUPED.test(text) ? text.replaceAll('.', '').replace(',', '.') : text.replace(/[.,]/g, sign => sign === ',' ? '.' : ',')
}

/** @type {Record<CellType, (decimal: string) => ReadCell>} */
const readers = {
  float64: decimal => text => {
    const number = plain(text, decimal)
    const value = NUMBER.test(number) ? Number(number) : NaN
    return Number.isFinite(value) ? value : undefined
  },

  int64: decimal => text => {
    const number = plain(text, decimal)
    if (!WHOLE.test(number)) return undefined
    const value = BigInt(number.startsWith('+') ? number.slice(1) : number)
    return value >= INT64[0] && value <= INT64[1] ? value : undefined
  },

  bool: () => text => BOOLS.get(text.toLowerCase()),

  string: () => text => text
}
