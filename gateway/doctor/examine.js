import { describe } from '../base/errors.js'
import { withoutPasswordsInAddresses as cleaned } from '../base/secrets.js'
import { orAborted } from '../databases/connecting/limits.js'
import { CHECKS } from './checks/index.js'
import { warning } from './finding.js'

/**
 * @typedef {import('./finding.js').Check} Check
 * @typedef {import('./finding.js').Found} Found
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
    ? warning(`${title}: not finished within ${limitMs / 1000} s.`, '', 'Something there does not answer. Try again when it does.')
    : warning(`${title} could not be checked: ${describe(error)}`, '', 'Try again as the user of the gateway, or as root.')])
  clearTimeout(timer)
  return found.map(({ level, what, where, fix }) => ({ check: name, level, what: cleaned(what), where: cleaned(where), fix: cleaned(fix) }))
}
