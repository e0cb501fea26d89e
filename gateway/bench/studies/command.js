import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, SluiceError } from '../../base/errors.js'
import { sinkTypes } from '../../databases/index.js'
import { holderFor, Limit, readBounds } from '../limit/limit.js'
import { environmentOf } from './environment.js'
import { ALL, PAPERS, STUDIES } from './index.js'
import { LAST, lastUnfinished } from './last-run.js'
import { Remaining } from './remaining.js'
import { summary } from './report/summary.js'
import { FILES, newFolder, writeOverview, writeReport } from './report/write.js'
import { runStudy } from './run.js'
import { workOf } from './work.js'

/**
 * `sluice bench arnst` and so on: measures studies of papers again, and reports them.
 *
 * @typedef {object} StudyArguments
 * @property {string[]} studies
 * @property {boolean} isFull
 * @property {string} folder  where the folders of reports are
 * @property {string} resume  such a folder, of a run that is to go on; `last`: the newest of these options, if there is one; empty: none
 * @property {string} config  a file with what is chosen, in the form of the paper; empty: none
 * @property {Record<string, any>} sweep  wins over the file
 * @property {import('../limit/limit.js').Bounds} [bounds]  of the gateway's part
 * @property {boolean} [withServers]  of servers that the bench starts, too
 *
 * @typedef {import('./run.js').Progress & {event: 'progress', study: string}} ProgressEvent  of all studies together
 * @typedef {{event: 'study', study: string, title: string, folder: string}
 *   | ProgressEvent
 *   | {event: 'missing', study: string, reason: string, labels: string[]}
 *   | {event: 'problem', text: string}
 *   | {event: 'report', study: string, title: string, folder: string, page: string, isComplete: boolean}
 *   | {event: 'overview', folder: string, page: string, isComplete: boolean}} StudyEvent
 *
 * @typedef {object} Context
 * @property {import('../servers.js').Servers} servers
 * @property {AbortSignal} signal
 * @property {(event: StudyEvent) => void} tell
 */

/** Of parseArgs. What can be chosen instead of a study's own, by its name on the command line. */
const SWEEP = /** @type {const} */ ({
  databases: 'words',
  layouts: 'words',
  'batch-sizes': 'numbers',
  writers: 'numbers',
  sensors: 'numbers',
  seconds: 'number',
  rows: 'number',
  'warm-up-seconds': 'number',
  repetitions: 'number',
  'clients-as': 'clients',
  'p99-ms': 'number',
  'p99-times': 'number'
})

const text = /** @type {const} */ ({ type: 'string' })
const REPORTS = 'bench-reports'

export const studyOptions = {
  full: /** @type {const} */ ({ type: 'boolean', default: false }),
  folder: text,
  resume: /** @type {const} */ ({ type: 'string', default: '' }),
  config: /** @type {const} */ ({ type: 'string', default: '' }),
  limit: text,
  'with-servers': /** @type {const} */ ({ type: 'boolean', default: false }),
  ...Object.fromEntries(Object.keys(SWEEP).map(name => [name, text]))
}

/**
 * @param {Record<string, any>} values  of parseArgs
 * @param {string[]} names  of studies
 * @returns {StudyArguments}
 * @throws {Error} what is wrong with them
 */
export function readStudyArguments ({ full, folder = REPORTS, resume, config, limit, 'with-servers': withServers, ...values }, names) {
  if (config && names.join() !== 'scits') throw new Error('--config is for scits')
  /** @type {Record<string, any>} */
  const sweep = {}
  for (const [name, kind] of Object.entries(SWEEP)) {
    if (values[name] !== undefined) sweep[camelCase(name)] = valueOf(name, kind, values[name])
  }
  const studies = names.includes(ALL) ? PAPERS : names
  if (withServers && !limit) throw new Error('--with-servers is of --limit')
  return {
    studies,
    isFull: full,
    folder: resolve(folder),
    resume: resume && resume !== LAST ? resolve(resume) : resume,
    config,
    sweep,
    ...limit && { bounds: readBounds(limit), withServers }
  }
}

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
    for (const { reason, cells: labels } of summary(result).missing) tell({ event: 'missing', study: study.id, reason, labels })
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
  return known || newFolder(parent, runs.length > 1 ? ALL : runs[0].study)
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

/** @param {string} name @param {string} kind @param {string} given */
function valueOf (name, kind, given) {
  const parts = given.split(',').map(part => part.trim()).filter(Boolean)
  if (parts.length === 0) throw new Error(`--${name} is empty`)
  if (kind === 'words') return parts
  if (kind === 'clients') {
    if (given !== 'threads' && given !== 'processes') throw new Error(`--${name} is threads or processes`)
    return given
  }
  const numbers = parts.map(Number)
  const wrong = parts.find((_, i) => !(numbers[i] > 0))
  if (wrong !== undefined) throw new Error(`--${name}: "${wrong}" is not a number above 0`)
  if (kind === 'numbers') return numbers
  if (numbers.length > 1) throw new Error(`--${name} is one number`)
  return numbers[0]
}

/** @param {string} name */
function camelCase (name) {
  return name.replace(/-./g, ([, letter]) => letter.toUpperCase())
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
