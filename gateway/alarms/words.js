import { quantity, remaining } from '../stats/format.js'
import { phrase } from '../stats/phrases.js'

/** @typedef {import('../stats/phrases.js').Phrase} Phrase */

/** What a phone shows of a message, and a table in one line. */
const MAX_SENTENCE = 100
/** Of a name within it: users choose longer ones. */
const MAX_NAME = 36

/** @param {string} name */
export function short (name) { return cut(name, MAX_NAME) }

/** @param {string} text */
export function inOneLine (text) { return cut(text, MAX_SENTENCE) }

/** "1 row", "1.50 k rows". @param {number} count @param {string} [key]  of the catalogue @param {Record<string, Phrase>} [values] */
export function counted (count, key = 'rows', values = {}) { return phrase(key, { ...values, n: quantity(count), count }) }

/** "45 s", "11 days". @param {number} seconds @returns {Phrase} */
export function lasting (seconds) {
  const days = Math.round(seconds / 86_400)
  return seconds < 48 * 3600 ? remaining(seconds) : phrase('days', { count: days })
}

/** @param {string} text @param {number} length */
function cut (text, length) {
  return text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text
}
