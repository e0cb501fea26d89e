import { inEnglish } from '../../gateway/stats/english.js'

/**
 * @typedef {import('../../gateway/stats/phrases.js').Phrase} Phrase
 * @typedef {'error'|'warning'|'info'} Level  an error breaks the promise; a warning makes it slow or its recovery frequent
 *
 * @typedef {object} Finding
 * @property {Level} level
 * @property {string} code
 * @property {string} text  in English
 * @property {string} fix  likewise; empty where there is nothing to do
 * @property {{text: Phrase, fix: Phrase}} phrases  for other languages
 *
 * @typedef {object} Report
 * @property {boolean} ok  no error found
 * @property {{name: string, version: string, protocol: string}|null} broker  null when it could not be reached or did not let us in;
 *   `protocol` is the version of MQTT
 * @property {Finding[]} findings
 */

/** @param {Level} level @param {string} code @param {Phrase} text @param {Phrase} [fix] @returns {Finding} */
export function finding (level, code, text, fix = '') {
  return { level, code, text: inEnglish(text), fix: inEnglish(fix), phrases: { text, fix } }
}

/** @param {Finding} finding */
export function isError ({ level }) { return level === 'error' }

/** What it is, in a line. @param {NonNullable<Report['broker']>} broker */
export function titleOf ({ name, version, protocol }) {
  return `${`${name} ${version}`.trim()}${protocol && `, MQTT ${protocol}`}`
}
