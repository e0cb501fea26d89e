import { readFileSync } from 'node:fs'
import { LEVELS } from './finding.js'

/**
 * @typedef {import('./finding.js').Found} Found
 * @typedef {import('./finding.js').Level} Level
 *
 * @typedef {object} Report  plain JSON; its shape changes only by additions
 * @property {string} sluice  version
 * @property {string} time  ISO 8601
 * @property {string} userDir
 * @property {{id: string|null, state: import('./subject.js').State, process: number|null}} gateway
 * @property {boolean} ok  no problem found
 * @property {Record<Level, number>} counts
 * @property {{check: string, title: string}[]} checks  that were made
 * @property {Found[]} findings  problems first, then in the order of the checks
 */

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/**
 * @param {import('./subject.js').Subject} subject
 * @param {import('./examine.js').Examination[]} examinations
 * @returns {Promise<Report>}
 */
export async function reportOf (subject, examinations) {
  const found = (await Promise.all(examinations.map(({ findings }) => findings))).flat()
  const findings = LEVELS.flatMap(level => found.filter(each => each.level === level))
  const counts = { problem: 0, warning: 0, note: 0, ok: 0 }
  for (const { level } of found) counts[level]++
  return {
    sluice: version,
    time: new Date().toISOString(),
    userDir: subject.userDir,
    gateway: { id: await subject.gatewayId(), state: subject.state, process: subject.pid },
    ok: counts.problem === 0,
    counts,
    checks: examinations.map(({ check, title }) => ({ check, title })),
    findings
  }
}

/** For programs, which go by the English. @param {Report} report */
export const asJson = report => JSON.stringify(report, (key, value) => key === 'phrases' ? undefined : value, 2)

const COLOURS = { problem: 31, warning: 33, note: 36, ok: 32 }
const HEADINGS = { problem: 'Problems', warning: 'Warnings', note: 'Notes', ok: 'In order' }

/** For a terminal. @param {Report} report @param {{isColoured?: boolean}} [options] */
export function asText ({ findings, counts, checks }, { isColoured = false } = {}) {
  const titles = new Map(checks.map(({ check, title }) => [check, title]))
  const paint = (/** @type {string} */ text, /** @type {number} */ colour) => isColoured ? `\u001b[${colour}m${text}\u001b[0m` : text
  const groups = LEVELS.filter(level => counts[level] > 0).map(level => {
    const lines = findings.filter(each => each.level === level).flatMap(({ check, what, where, fix }) => [
      `  ${paint('•', COLOURS[level])} ${titles.get(check) ?? check}${where ? `, ${where}` : ''}`,
      `      ${what}`,
      ...fix ? [`      → ${fix}`] : []
    ])
    return `${paint(HEADINGS[level], COLOURS[level])}\n${lines.join('\n')}\n`
  })
  return `${groups.join('\n')}\n${summary(counts)}\n`
}

/** @param {Record<Level, number>} counts */
export function summary ({ problem, warning }) {
  if (problem + warning === 0) return 'Nothing is wrong.'
  const count = (/** @type {number} */ number, /** @type {string} */ word) => `${number} ${word}${number === 1 ? '' : 's'}`
  return `${count(problem, 'problem')}, ${count(warning, 'warning')}.`
}
