import { codeOf, headlineOf } from '../gateway/base/headlines.js'
import { quantity } from '../gateway/stats/format.js'

/**
 * What a node shows below itself in the editor, in one sentence: what matters first, then what there is room for. Codes and reasons are in
 * the log, in the debug sidebar and in the gauges.
 *
 * @typedef {object} Status
 * @property {'red'|'green'|'yellow'|'blue'|'grey'} [fill]
 * @property {'dot'|'ring'} [shape]
 * @property {string} [text]
 * @property {string} [problem]  in full, as `describe` has it: it goes to the log when it is another one
 */

/** More is cut off where nodes stand side by side. */
export const MAX_STATUS = 40

/**
 * "PostgreSQL not reachable, 1.5 k waiting"
 * @param {string} first  cut where a clause ends, or a word, if it is too long
 * @param {...string} others  empty ones and those for which there is no room are left out
 */
export function sentence (first, ...others) {
  return others.reduce((text, other) => {
    const longer = `${text}, ${other}`
    return other !== '' && longer.length <= MAX_STATUS ? longer : text
  }, shortened(first))
}

/** "12 missed", "1 dead letter": without those of 0. @param {Record<string, number>} counts @returns {string[]} */
export function counted (counts) {
  return Object.entries(counts).filter(([, count]) => count > 0).map(([what, count]) =>
    `${quantity(count)} ${count === 1 ? what.replace(/(?<=sh)es\b|s\b/, '') : what}`)
}

/** Text of our own that may be long, or have a code: "9 of 12 values missing: device is silent". @param {string} text */
function shortened (text) {
  const plain = codeOf(text).startsWith('SLUICE_') ? headlineOf(text) : text
  if (plain.length <= MAX_STATUS) return plain
  const clauses = [...plain.matchAll(/[,;:.] /g)].map(({ index }) => index).filter(index => index <= MAX_STATUS)
  const clauseEnd = clauses.at(-1)
  if (clauseEnd !== undefined) return plain.slice(0, clauseEnd)
  const wordEnd = plain.lastIndexOf(' ', MAX_STATUS - 1)
  return `${plain.slice(0, wordEnd > 0 ? wordEnd : MAX_STATUS - 1)}…`
}
