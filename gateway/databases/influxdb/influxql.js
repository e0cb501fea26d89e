/**
 * InfluxQL, and the answers to it.
 *
 * @typedef {{name: string, tags?: Record<string, string>, columns: string[], values: any[][]}} Series
 */

/** Of what is said in an answer that is no JSON, in characters. */
const MAX_REASON = 200

/** An identifier. @param {string} name */
export function quoteName (name) {
  return `"${escaped(name, '"')}"`
}

/** A text. @param {string} text */
export function quoteText (text) {
  return `'${escaped(text, '\'')}'`
}

/**
 * A measurement, with its retention policy where there is one.
 * @param {string} policy
 * @param {string} measurement
 */
export function quoteTable (policy, measurement) {
  return policy === '' ? quoteName(measurement) : `${quoteName(policy)}.${quoteName(measurement)}`
}

/**
 * The series in an answer, or in a chunk of one; whole numbers that a double does not hold are BigInt. What is no JSON says why: the server
 * has none for a number that is infinite.
 * @param {string} text
 * @returns {{series: Series[], error?: string}}
 */
export function parseAnswer (text) {
  const { results = [], error } = jsonIn(text) ?? { error: text.trim().slice(0, MAX_REASON) || 'the answer is empty' }
  return { series: results[0]?.series ?? [], error: error ?? results[0]?.error }
}

/** @param {string} text @returns {any} */
function jsonIn (text) {
  try {
    return exactJson(text)
  } catch {
    return null
  }
}

/** Whole numbers that a double does not hold are BigInt. @param {string} text @returns {any} */
export function exactJson (text) {
  return JSON.parse(text, /** @type {any} */ (exactNumber))
}

/** @param {string} text @param {string} quote */
function escaped (text, quote) {
  return text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n')
}

/** @param {string} _key @param {unknown} value @param {{source?: string}} context */
function exactNumber (_key, value, { source = '' }) {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
  return BigInt(source)
}
