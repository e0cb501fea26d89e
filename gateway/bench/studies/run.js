import { appendFile, chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, SluiceError } from '../../base/errors.js'
import { replaceFile } from '../../base/files.js'
import { CELLS, workOf } from './work.js'

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').StudyOptions} StudyOptions
 * @typedef {import('./study.js').StudyResult} StudyResult
 * @typedef {import('./study.js').Cell} Cell
 * @typedef {StudyResult['cells'][number]} CellResult
 *
 * @typedef {object} Progress
 * @property {number} cell  1, 2, …
 * @property {number} cells
 * @property {string} label  of the cell
 * @property {number} secondsLeft  of all, about
 * @property {string} [text]  what goes on in the cell
 *
 * @typedef {object} RunOptions
 * @property {string} folder  of this run: what has been measured there with the same options is not measured again
 * @property {StudyOptions} options
 * @property {import('../servers.js').Servers} servers
 * @property {Record<string, string>} environment
 * @property {string} [limited]  see StudyResult
 * @property {import('./study.js').CellContext['outside']} [outside]
 * @property {AbortSignal} [signal]  stops; what has been measured is kept
 * @property {(progress: Progress) => void} [progress]
 */

/** In the folder of a run: what was asked for, and when. */
export const HEAD = 'run.json'

/**
 * Measures the cells of a study, one after the other, and writes each down as it ends. One that fails is told, and the others go on.
 * @param {Study} study @param {RunOptions} options
 * @returns {Promise<StudyResult>}
 * @throws {SluiceError} SLUICE_BENCH_RESUME where the folder has the measurements of other options, or another study
 */
export async function runStudy (study, { folder, options, servers, environment, ...more }) {
  const { limited = '', outside = work => work(), signal, progress = () => {} } = more
  const { entries, cut, seconds } = await workOf(study, { folder, options, servers })
  const startedMs = await begin(folder, { study: study.id, options, limited })
  /** @type {CellResult[]} */
  const results = []
  const shared = new Shared()
  let secondsLeft = seconds
  for (const [i, entry] of entries.entries()) {
    const { cell, known, missing } = entry
    let result = known
    if (!result && signal?.aborted) continue
    if (!result) {
      const place = { cell: i + 1, cells: entries.length, label: cell.label, secondsLeft }
      if (missing === null) progress(place)
      await shared.useFor(String(cell.parameters.database))
      result = missing === null
        ? await measured(study, cell, {
            servers,
            outside,
            signal: signal ?? new AbortController().signal,
            progress: (text, left = entry.seconds) => progress({ ...place, secondsLeft: place.secondsLeft - entry.seconds + left, text }),
            shared: open => shared.open(open)
          })
        : { ...withoutSeconds(cell), state: 'absent', reason: missing }
      secondsLeft -= entry.seconds
      if (!result) continue
      // Not behind a line that a kill has cut.
      if (!isPartial(result)) await appendFile(join(folder, CELLS), `\n${JSON.stringify(result)}\n`)
    }
    results.push(result)
  }
  await shared.useFor(null)
  return {
    version: 1,
    study: study.id,
    title: study.title,
    paper: study.paper,
    startedMs,
    endedMs: Date.now(),
    isComplete: results.length === entries.length && !results.some(isPartial),
    limited,
    environment: { ...environment, ...versionsOf(results) },
    options,
    cut,
    cells: results
  }
}

/**
 * @param {Study} study @param {Cell} cell @param {Omit<import('./study.js').CellContext, 'folder'>} context
 * @returns {Promise<CellResult|null>} null where it was stopped
 */
async function measured (study, cell, context) {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${study.id}-`))
  const startedMs = Date.now()
  const began = performance.now()
  try {
    const result = await study.measure(cell, { ...context, folder })
    return { ...withoutSeconds(cell), state: 'done', startedMs, tookSeconds: (performance.now() - began) / 1000, ...result }
  } catch (error) {
    return context.signal.aborted ? null : { ...withoutSeconds(cell), state: 'failed', reason: describe(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** It is reported, and measured again when the run goes on. @param {CellResult} result */
function isPartial (result) { return 'isPartial' in result && result.isPartial === true }

/** @param {Cell} cell */
function withoutSeconds ({ id, label, parameters }) {
  return { id, label, parameters }
}

/** @param {CellResult[]} results @returns {Record<string, string>} */
function versionsOf (results) {
  const versions = new Set(results.flatMap(result => 'version' in result && result.version ? [result.version] : []))
  const settings = results.flatMap(result => {
    return 'settings' in result && result.settings ? [[`Settings of ${result.version}`, result.settings]] : []
  })
  return { ...versions.size > 0 && { Databases: [...versions].join(', ') }, ...Object.fromEntries(settings) }
}

/** What the cells of one database use together. */
class Shared {
  /** @type {string|null} */
  #database = null
  /** @type {{remove: () => Promise<void>}|null} */
  #opened = null
  #folder = ''

  /** The turn of a database has come: what another used is removed. @param {string|null} database */
  async useFor (database) {
    if (database === this.#database) return
    this.#database = database
    const opened = this.#opened
    this.#opened = null
    await opened?.remove()
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true })
    this.#folder = ''
  }

  /** @template {{remove: () => Promise<void>}} T @param {(folder: string) => Promise<T>} open @returns {Promise<T>} */
  async open (open) {
    if (!this.#opened) {
      this.#folder ||= await mkdtemp(join(tmpdir(), 'sluice-study-'))
      await chmod(this.#folder, 0o755) // servers run as users of their own
      this.#opened = await open(this.#folder)
    }
    return /** @type {T} */ (this.#opened)
  }
}

/**
 * When the run in the folder began, now or before.
 * @param {string} folder @param {{study: string, options: StudyOptions, limited: string}} run
 */
async function begin (folder, run) {
  await mkdir(folder, { recursive: true })
  const path = join(folder, HEAD)
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) {
    const startedMs = Date.now()
    await replaceFile(path, JSON.stringify({ startedMs, ...run })) // whole, whenever this process is killed
    return startedMs
  }
  const { startedMs, ...before } = headIn(text, path)
  if (isDeepStrictEqual(before, JSON.parse(JSON.stringify(run)))) return Number(startedMs)
  throw new SluiceError('SLUICE_BENCH_RESUME', `The folder ${folder} has a run of ${before.study} with other options.`, {
    fix: 'Give the options that it was begun with, or another folder.'
  })
}

/** @param {string} text @param {string} path  of the file that has it */
function headIn (text, path) {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SluiceError('SLUICE_BENCH_RESUME', `${path} is damaged: ${describe(cause)}`, { cause, fix: 'Begin anew, in another folder.' })
  }
}
