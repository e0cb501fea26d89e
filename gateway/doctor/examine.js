import { describe } from '../base/errors.js'
import { withoutPasswordsInAddresses } from '../base/secrets.js'
import { orAborted } from '../databases/connecting/limits.js'
import { CHECKS } from './checks/index.js'
import { warning } from './finding.js'
import { inEnglish } from '../stats/english.js'
import { said } from '../stats/phrases.js'

/**
 * @typedef {import('./finding.js').Check} Check
 * @typedef {import('./finding.js').Found} Found
 * @typedef {import('../stats/phrases.js').Phrase} Phrase
 * @typedef {{check: string, title: string, findings: Promise<Found[]>}} Examination  its findings never reject
 */

const LIMIT_MS = 20_000

/**
 * Begins all checks at once: most of them wait, for a server or a disk.
 * @param {import('./subject.js').Subject} subject
 * @param {Check[]} [checks]
 * @returns {Examination[]}
 */
export function examine (subject, checks = CHECKS) {
  return checks.map(check => ({ check: check.name, title: check.title, findings: findingsOf(check, subject) }))
}

/**
 * What goes wrong in a check is a finding, too.
 * @param {Check} check
 * @param {import('./subject.js').Subject} subject
 * @returns {Promise<Found[]>}
 */
async function findingsOf ({ name, title, limitMs = LIMIT_MS, find }, subject) {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), limitMs)
  const finding = (async () => find(subject, late.signal))()
  const found = await orAborted(finding, late.signal).catch(error => [late.signal.aborted
    ? warning(said`${title}: not finished within ${limitMs / 1000} s.`, '', said`Something there does not answer. Try again when it does.`)
    : warning(said`${title} could not be checked: ${describe(error)}`, '', said`Try again as the user of the gateway, or as root.`)])
  clearTimeout(timer)
  return found.map(({ level, ...its }) => {
    const phrases = { what: cleaned(its.what), where: cleaned(its.where), fix: cleaned(its.fix) }
    return { check: name, level, what: inEnglish(phrases.what), where: inEnglish(phrases.where), fix: inEnglish(phrases.fix), phrases }
  })
}

/** Passwords come with what is filled in. @template {Phrase|number} Given @param {Given} given @returns {Given} */
function cleaned (given) {
  if (typeof given === 'string') return /** @type {Given} */ (withoutPasswordsInAddresses(given))
  if (typeof given !== 'object') return given
  if (Array.isArray(given)) return /** @type {Given} */ (given.map(cleaned))
  const values = Object.entries(given.values ?? {}).map(([name, value]) => [name, cleaned(value)])
  return { ...given, values: Object.fromEntries(values) }
}
