/**
 * What a check has found. A problem stops data, loses some, or soon will; a warning makes that likelier, or everything slow; a note is
 * what a reader should know; ok is what was looked at and is as it should be.
 *
 * @typedef {'problem'|'warning'|'note'|'ok'} Level
 * @typedef {object} Finding
 * @property {Level} level
 * @property {string} what  in a sentence or two
 * @property {string} where  a node, file or interface; empty of the machine as a whole
 * @property {string} fix  what to do; empty where there is nothing
 *
 * @typedef {Finding & {check: string}} Found
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

/** @param {string} what @param {string} where @param {string} fix @returns {Finding} */
export const problem = (what, where, fix) => ({ level: 'problem', what, where, fix })

/** @param {string} what @param {string} where @param {string} fix @returns {Finding} */
export const warning = (what, where, fix) => ({ level: 'warning', what, where, fix })

/** @param {string} what @param {string} [where] @param {string} [fix] @returns {Finding} */
export const note = (what, where = '', fix = '') => ({ level: 'note', what, where, fix })

/** @param {string} what @param {string} [where] @returns {Finding} */
export const ok = (what, where = '') => ({ level: 'ok', what, where, fix: '' })
