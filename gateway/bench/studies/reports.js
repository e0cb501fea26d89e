import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { SluiceError } from '../../base/errors.js'
import { STUDIES } from './index.js'
import { compare } from './report/compare.js'
import { FILES, newFolder, writeComparison, writeOverview, writeReport } from './report/write.js'

/**
 * `sluice bench report` and `sluice bench compare`: reports of what was measured before.
 *
 * @typedef {import('./study.js').StudyResult} StudyResult
 * @typedef {import('./command.js').Context} Context
 *
 * @typedef {object} ReportArguments
 * @property {string[]} reports  folders of runs: one to report again, or more to compare
 * @property {string} parent  where the folder of the report goes; empty: beside the first
 */

/** The words of the command line. @type {Record<string, {needs: string, isEnough: (folders: number) => boolean}>} */
const VERBS = {
  report: { needs: 'the folder of a run', isEnough: folders => folders === 1 },
  compare: { needs: 'the folders of two runs or more', isEnough: folders => folders >= 2 }
}

/** @param {string|undefined} verb */
export function isReporting (verb) {
  return Object.hasOwn(VERBS, verb ?? '')
}

/**
 * @param {string[]} positionals
 * @param {string|undefined} parent
 * @returns {ReportArguments}
 * @throws {Error} what is wrong with them
 */
export function readReportArguments ([verb, ...folders], parent) {
  const { needs, isEnough } = VERBS[verb]
  if (!isEnough(folders.length)) throw new Error(`${verb} needs ${needs}`)
  return { reports: folders.map(folder => resolve(folder)), parent: parent ? resolve(parent) : '' }
}

/** @param {ReportArguments} options @param {Pick<Context, 'tell'>} context */
export async function writeReports ({ reports: folders, parent }, { tell }) {
  if (folders.length === 1) await reportAgain(folders[0], parent || dirname(folders[0]), tell)
  else await compareReports(folders, parent || dirname(folders[0]), tell)
}

/** A run, or all of the studies in a folder. @param {string} from @param {string} parent @param {Context['tell']} tell */
async function reportAgain (from, parent, tell) {
  const folder = join(parent, basename(from))
  const result = await resultIn(from)
  if (result) return report(result, folder, tell)
  const names = (await readdir(from).catch(() => [])).filter(name => Object.hasOwn(STUDIES, name))
  const results = (await Promise.all(names.map(name => resultIn(join(from, name))))).filter(each => each !== null)
  if (results.length === 0) throw noReport(from)
  results.sort((a, b) => a.startedMs - b.startedMs)
  for (const each of results) await report(each, join(folder, each.study), tell)
  await writeOverview(folder, results)
  tell({ event: 'overview', folder, page: join(folder, FILES.overview), isComplete: results.every(({ isComplete }) => isComplete) })
}

/** @param {StudyResult} result @param {string} folder @param {Context['tell']} tell */
async function report (result, folder, tell) {
  const { study: id, title, isComplete } = result
  const study = await studyOf(result)
  await writeReport(folder, result, study.report(result), study.files?.(result))
  tell({ event: 'report', study: id, title, folder, page: join(folder, FILES.page), isComplete })
}

/** @param {string[]} folders @param {string} parent @param {Context['tell']} tell */
async function compareReports (folders, parent, tell) {
  const reports = await Promise.all(folders.map(async from => {
    const result = await resultIn(from)
    if (!result) throw noReport(from)
    return { name: basename(from), result, sections: (await studyOf(result)).report(result) }
  }))
  const comparison = compare(reports)
  const [{ result: { study, title } }] = reports
  const folder = await newFolder(parent, `${study}-compared`)
  await writeComparison(folder, comparison)
  tell({ event: 'report', study, title, folder, page: join(folder, FILES.page), isComplete: true })
}

/** @param {StudyResult} result */
async function studyOf (result) {
  if (!Object.hasOwn(STUDIES, result.study)) {
    const fix = 'Report it with the Sluice that measured it.'
    throw new SluiceError('SLUICE_BENCH_REPORT', `There is no study "${result.study}".`, { fix })
  }
  return STUDIES[result.study]()
}

/** @param {string} folder @returns {Promise<StudyResult|null>} */
async function resultIn (folder) {
  const text = await readFile(join(folder, FILES.result), 'utf8').catch(() => null)
  return text === null ? null : JSON.parse(text)
}

/** @param {string} folder */
function noReport (folder) {
  return new SluiceError('SLUICE_BENCH_REPORT', `${folder} has no ${FILES.result}.`, {
    fix: 'Name the folder of a run that has come to its end or was stopped; what was killed goes on with --resume.'
  })
}
