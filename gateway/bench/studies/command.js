import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, SluiceError } from '../../base/errors.js'
import { sinkTypes } from '../../databases/index.js'
import { holderFor, Limit } from '../limit/limit.js'
import { environmentOf } from './environment.js'
import { ALL, STUDIES } from './index.js'
import { LAST, lastUnfinished } from './last-run.js'
import { Remaining } from './remaining.js'
import { summary } from './report/summary.js'
import { FILES, newFolder, writeOverview, writeReport } from './report/write.js'
import { runStudy } from './run.js'
import { workOf } from './work.js'

/**
 * `sluice bench arnst` and so on: measures studies of papers again, and reports them.
 *
 * @typedef {import('./arguments.js').StudyArguments} StudyArguments
 * @typedef {import('./run.js').Progress & {event: 'progress', study: string}} ProgressEvent  of all studies together
 * @typedef {{event: 'study', study: string, title: string, folder: string}
 *   | ProgressEvent
 *   | {event: 'missing', study: string, state: 'failed'|'absent', reason: string, labels: string[]}
 *   | {event: 'problem', text: string}
 *   | {event: 'report', study: string, title: string, folder: string, page: string, isComplete: boolean}
 *   | {event: 'overview', folder: string, page: string, isComplete: boolean}} StudyEvent
 *
 * @typedef {object} Context
 * @property {import('../servers.js').Servers} servers
 * @property {AbortSignal} signal
 * @property {(event: StudyEvent) => void} tell
 */

/**
 * Measures studies until they end or are stopped: what has been measured by then is in the reports. Several are in one folder, with a page
 * that leads to them.
 * @param {StudyArguments} options
 * @param {Context} context
 * @returns {Promise<void>}
 */
export async function runStudies ({ bounds, withServers, ...options }, { servers, ...context }) {
  if (!bounds) return run(options, { ...context, servers })
  const limit = new Limit(holderFor(bounds), { withServers })
  limit.begin()
  try {
    await run(options, { ...context, servers: limit.servers(servers), limited: limit.text, outside: work => limit.outside(work) })
  } finally {
    limit.end()
  }
}

/**
 * @param {StudyArguments} options
 * @param {Context & Pick<import('./run.js').RunOptions, 'limited'|'outside'>} context
 */
async function run ({ studies: names, isFull, folder: parent, resume, config, sweep }, context) {
  const { servers, signal, tell, limited = '', outside } = context
  const studies = await Promise.all(names.map(name => STUDIES[name]()))
  const options = { isFull, sweep: { ...config && studies[0].sweepOf?.(await readFile(config, 'utf8')), ...sweep } }
  checkDatabases(studies, options)
  const folder = await folderFor(parent, resume, names.map(study => ({ study, options, limited })))
  const runs = studies.map(study => ({ study, folder: studies.length > 1 ? join(folder, study.id) : folder, options, servers }))
  const works = await Promise.all(runs.map(each => workOf(each.study, each)))
  const remaining = new Remaining(works.map(({ seconds }) => seconds))
  const cells = works.map(({ entries }) => entries.length)
  const results = []
  for (const [i, { study, ...parts }] of runs.entries()) {
    if (signal.aborted) break
    tell({ event: 'study', study: study.id, title: study.title, folder: parts.folder })
    const result = await runStudy(study, {
      ...parts,
      environment: await environmentOf(tmpdir()),
      limited,
      outside,
      signal,
      progress: ({ cell, secondsLeft, ...place }) => tell({
        event: 'progress',
        study: study.id,
        ...place,
        cell: sum(cells.slice(0, i)) + cell,
        cells: sum(cells),
        secondsLeft: remaining.of(i, secondsLeft)
      })
    })
    results.push(result)
    for (const { state, reason, cells: labels } of summary(result).missing) {
      tell({ event: 'missing', study: study.id, state, reason, labels })
    }
    await reported(study, result, parts.folder, tell)
    if (runs.length > 1) await writeOverview(folder, results)
  }
  if (runs.length === 1 || results.length === 0) return
  const isComplete = results.length === runs.length && results.every(result => result.isComplete)
  tell({ event: 'overview', folder, page: join(folder, FILES.overview), isComplete })
}

/**
 * @param {string} parent @param {string} resume
 * @param {{study: string, options: import('./study.js').StudyOptions, limited: string}[]} runs
 */
async function folderFor (parent, resume, runs) {
  const known = resume === LAST ? await lastUnfinished(parent, runs) : resume
  if (!known) return newFolder(parent, runs.length > 1 ? ALL : runs[0].study)
  if (existsSync(known)) return known
  throw new SluiceError('SLUICE_BENCH_RESUME', `There is no run in ${known}.`, { fix: 'Name the folder of a run, or leave --resume out.' })
}

/**
 * A mistyped name would be a study without figures.
 * @param {import('./study.js').Study[]} studies @param {import('./study.js').StudyOptions} options
 */
function checkDatabases (studies, { isFull, sweep: { databases = [] } }) {
  const own = studies.flatMap(study => study.plan({ isFull, sweep: {} }).cells.map(({ parameters }) => String(parameters.database)))
  const known = [...new Set([...Object.keys(sinkTypes), ...own])]
  const unknown = databases.find((/** @type {string} */ name) => !known.includes(name))
  if (unknown === undefined) return
  throw new SluiceError('SLUICE_BENCH_UNKNOWN', `There is no database "${unknown}".`, { fix: `Choose from ${known.join(', ')}.` })
}

/**
 * What was measured stays, even where its report cannot be made.
 * @param {import('./study.js').Study} study @param {import('./study.js').StudyResult} result
 * @param {string} folder @param {Context['tell']} tell
 */
async function reported (study, result, folder, tell) {
  const { id, title } = study
  try {
    await writeReport(folder, result, study.report(result), study.files?.(result))
    tell({ event: 'report', study: id, title, folder, page: join(folder, FILES.page), isComplete: result.isComplete })
  } catch (error) {
    tell({ event: 'problem', text: `The report of ${id} cannot be written: ${describe(error)}` })
  }
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
