import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { describe } from '../../base/errors.js'
import { environmentOf } from './environment.js'
import { ALL, STUDIES } from './index.js'
import { folderName, FILES, writeReport } from './report/write.js'
import { runStudy } from './run.js'

/**
 * `sluice bench arnst` and so on: measures studies of papers again, and reports them.
 *
 * @typedef {object} StudyArguments
 * @property {string[]} studies
 * @property {boolean} isFull
 * @property {string} folder  where the folders of reports are
 * @property {string} resume  such a folder, of a run that is to go on; empty: none
 * @property {string} config  a file with what is chosen, in the form of the paper; empty: none
 * @property {Record<string, any>} sweep  wins over the file
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
  'clients-as': 'clients'
})

const text = /** @type {const} */ ({ type: 'string' })

export const studyOptions = {
  full: /** @type {const} */ ({ type: 'boolean', default: false }),
  folder: /** @type {const} */ ({ type: 'string', default: 'bench-reports' }),
  resume: /** @type {const} */ ({ type: 'string', default: '' }),
  config: /** @type {const} */ ({ type: 'string', default: '' }),
  ...Object.fromEntries(Object.keys(SWEEP).map(name => [name, text]))
}

/**
 * @param {Record<string, any>} values  of parseArgs
 * @param {string[]} names  of studies
 * @returns {StudyArguments}
 * @throws {Error} what is wrong with them
 */
export function readStudyArguments ({ full, folder, resume, config, ...values }, names) {
  if (resume && names.length > 1) throw new Error('--resume is for one study')
  if (config && names.join() !== 'scits') throw new Error('--config is for scits')
  /** @type {Record<string, any>} */
  const sweep = {}
  for (const [name, kind] of Object.entries(SWEEP)) {
    if (values[name] !== undefined) sweep[camelCase(name)] = valueOf(name, kind, values[name])
  }
  const studies = names.includes(ALL) ? Object.keys(STUDIES) : names
  return { studies, isFull: full, folder: resolve(folder), resume: resume && resolve(resume), config, sweep }
}

/**
 * Measures studies until they end or are stopped: what has been measured by then is in the report.
 * @param {StudyArguments} options
 * @param {{servers: import('../servers.js').Servers, signal: AbortSignal, say: (line: string) => void}} context
 * @returns {Promise<string[]>} the pages
 */
export async function runStudies ({ studies, isFull, folder: parent, resume, config, sweep }, { servers, signal, say }) {
  const pages = []
  for (const name of studies) {
    if (signal.aborted) break
    const study = await STUDIES[name]()
    const folder = resume || join(parent, folderName({ study: name, startedMs: Date.now() }, hostname()))
    say(`${study.title}: ${folder}`)
    const result = await runStudy(study, {
      folder,
      options: { isFull, sweep: { ...config && study.sweepOf?.(await readFile(config, 'utf8')), ...sweep } },
      servers,
      environment: await environmentOf('.'),
      signal,
      progress: ({ cell, cells, label, secondsLeft, text: what }) => {
        say(`${cell} of ${cells}, about ${remaining(secondsLeft)} left: ${label}${what ? `: ${what}` : ''}`)
      }
    })
    for (const cell of result.cells) if (cell.state !== 'done') say(`Not measured: ${cell.label}: ${cell.reason}`)
    await writeReport(folder, result, study.report(result), study.files?.(result))
      .catch(error => { say(`The report cannot be written: ${describe(error)}`) })
    if (!result.isComplete) say(`Stopped; sluice bench ${name} --resume ${folder} goes on.`)
    pages.push(join(folder, FILES.page))
  }
  return pages
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

/** @param {number} seconds */
function remaining (seconds) {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
