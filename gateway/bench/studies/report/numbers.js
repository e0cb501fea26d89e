/** What stands for a figure that is not there. */
export const NOTHING = '–'

const WHOLE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const FOUR_DIGITS = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 4 })
const TWO_DIGITS = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 2 })

/** Beyond these a number is written with a power of ten. */
const LARGE = 1e15
const SMALL = 1e-4

/** With their next letter, as on an axis. @type {[size: number, prefix: string][]} */
const PREFIXES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]

/**
 * As a reader wants it: 1278928 → "1,278,928", 0.00001 → "1 × 10⁻⁵".
 * @param {number|string|null|undefined} value  a text stays as it is
 * @param {number} [digits]  behind the point; four significant ones if it is not given
 */
export function figure (value, digits) {
  if (typeof value === 'string') return value
  if (!isNumber(value)) return NOTHING
  const size = Math.abs(value)
  if (size >= LARGE || (size < SMALL && size > 0)) return power(value)
  if (digits !== undefined && (size === 0 || size >= 0.5 * 10 ** -digits)) {
    return minus(new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value))
  }
  if (digits !== undefined) return minus(TWO_DIGITS.format(value)) // it is not 0, and does not look like it
  return minus((size >= 1000 ? WHOLE : FOUR_DIGITS).format(value))
}

/** How many times the published figure ours is, "×0.96"; null where that says nothing. @param {unknown} value @param {unknown} published */
export function ratio (value, published) {
  return isNumber(value) && isNumber(published) && published !== 0 ? times(value / published) : null
}

/** @param {number} quotient */
function times (quotient) {
  const size = Math.abs(quotient)
  if (size >= LARGE || size < 0.1) return `×${figure(Number(quotient.toPrecision(2)))}`
  return `×${figure(quotient, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)}`
}

/** Short, for an axis: "20 k", "10⁻⁶". @param {number} value */
export function tickText (value) {
  const size = Math.abs(value)
  if (size >= LARGE || (size < 1e-3 && size > 0)) return power(value)
  for (const [unit, prefix] of PREFIXES) {
    if (size >= unit) return minus(`${Number((value / unit).toPrecision(6))}\u202f${prefix}`)
  }
  return minus(String(Number(value.toPrecision(6))))
}

/** @param {unknown} value @returns {value is number} */
export function isNumber (value) {
  return typeof value === 'number' && Number.isFinite(value)
}

/** @param {number} value */
function power (value) {
  const [factor, exponent] = value.toExponential(2).split('e')
  const raised = `10${[...String(Number(exponent))].map(digit => digit === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')}`
  return Number(factor) === 1 ? raised : minus(`${Number(factor)} × ${raised}`)
}

/** @param {string} text */
function minus (text) {
  return text.replace('-', '−')
}
