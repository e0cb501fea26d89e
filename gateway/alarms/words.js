import { quantity } from '../stats/format.js'

/** What a phone shows of a message, and a table in one line. */
const MAX_SENTENCE = 100
/** Of a name within it: users choose longer ones. */
const MAX_NAME = 36

/** @param {string} name */
export function short (name) { return cut(name, MAX_NAME) }

/** @param {string} text */
export function inOneLine (text) { return cut(text, MAX_SENTENCE) }

/** "1 row", "1.50 k rows". @param {number} count @param {string} [what] */
export function counted (count, what = 'row') {
  return `${quantity(count)} ${what}${count === 1 ? '' : 's'}`
}

/** @param {string} text @param {number} length */
function cut (text, length) {
  return text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text
}
