import { resolve } from 'node:path'
import { readBounds } from '../limit/limit.js'
import { ALL, PAPERS } from './index.js'
import { LAST } from './last-run.js'

/**
 * What the command line says of studies.
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

/** Beyond, a machine would be at its end before anything is measured. @type {Record<string, number>} */
const MOST = { writers: 256, 'batch-sizes': 1_000_000, repetitions: 10_000 }

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
  const most = MOST[name] ?? Infinity
  if (numbers.some(number => number > most)) throw new Error(`--${name} is at most ${most.toLocaleString('en-US')}`)
  if (kind === 'numbers') return numbers
  if (numbers.length > 1) throw new Error(`--${name} is one number`)
  return numbers[0]
}

/** @param {string} name */
function camelCase (name) {
  return name.replace(/-./g, ([, letter]) => letter.toUpperCase())
}
