import { said } from '../stats/phrases.js'

/**
 * What a check has found. A problem stops data, loses some, or soon will; a warning makes that likelier, or everything slow; a note is
 * what a reader should know; ok is what was looked at and is as it should be.
 *
 * @typedef {'problem'|'warning'|'note'|'ok'} Level
 * @typedef {object} Finding
 * @property {Level} level
 * @property {Phrase} what  in a sentence or two
 * @property {Phrase} where  a node, file or interface; empty of the machine as a whole
 * @property {Phrase} fix  what to do; empty where there is nothing
 *
 * @typedef {import('../stats/phrases.js').Phrase} Phrase
 * @typedef {Record<'what'|'where'|'fix', string> & {check: string, level: Level, phrases: Omit<Finding, 'level'>}} Found  in English, and
 *   for other languages
 *
 * @typedef {object} Check
 * @property {string} name  never changes: programs go by it
 * @property {string} title
 * @property {number} [limitMs]  how long it may take
 * @property {(subject: import('./subject.js').Subject, signal: AbortSignal) => Promise<Finding[]>} find  none where there is nothing of its
 *   kind
 */

/** Worst first. */
export const LEVELS = /** @type {const} */ (['problem', 'warning', 'note', 'ok'])

/** @param {Phrase} what @param {Phrase} where @param {Phrase} fix @returns {Finding} */
export const problem = (what, where, fix) => ({ level: 'problem', what, where, fix })

/** @param {Phrase} what @param {Phrase} where @param {Phrase} fix @returns {Finding} */
export const warning = (what, where, fix) => ({ level: 'warning', what, where, fix })

/** @param {Phrase} what @param {Phrase} [where] @param {Phrase} [fix] @returns {Finding} */
export const note = (what, where = '', fix = '') => ({ level: 'note', what, where, fix })

/** @param {Phrase} what @param {Phrase} [where] @returns {Finding} */
export const ok = (what, where = '') => ({ level: 'ok', what, where, fix: '' })

/** What is wrong with the machine. @param {import('../stats/host/alarms.js').Alarm} alarm @param {Phrase} [where] @returns {Finding} */
export const ofAlarm = ({ level, phrases: { what, fix } }, where = '') => ({ level, what: said`${what}.`, where, fix })
