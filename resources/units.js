import { say } from './sentences.js'

const MAX_UNIT = 255

/** What a list of units looks like: "1, 3, 5-12". */
export const UNITS_PATTERN = '^\\s*\\d+(\\s*-\\s*\\d+)?(\\s*,\\s*\\d+(\\s*-\\s*\\d+)?)*\\s*$'

/** @param {string} text  like UNITS_PATTERN */
const rangesOf = text => text.split(',').map(range => range.split('-').map(Number))

/** What is wrong with a list of units. @param {string} title  of the option @param {string} text  like UNITS_PATTERN */
export function unitsProblem (title, text) {
  const isRight = rangesOf(text).every(([first, last = first]) => first <= last && last <= MAX_UNIT)
  return isRight ? undefined : say('units', { title, last: MAX_UNIT, given: `"${text}"` })
}

/** The numbers in a list such as "1, 3, 5-12". @param {string} text  in which nothing is wrong @returns {Set<number>} */
export function readUnits (text) {
  return new Set(rangesOf(text).flatMap(([first, last = first]) => Array.from({ length: last - first + 1 }, (_, i) => first + i)))
}
