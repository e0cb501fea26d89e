import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, SluiceError } from '../../base/errors.js'
import { sinkTypes } from '../../databases/index.js'
import { quantity } from '../../stats/format.js'
import { median, narrowBatches } from '../narrow-rows.js'
import { measure, throughSink } from './measure.js'

/**
 * Every database in one run: our sink at several batch sizes and numbers of writers, beside the database's own loader and the naive way.
 *
 * @typedef {import('./sink-bench.js').SinkBench} SinkBench
 * @typedef {import('./sink-bench.js').Running} Running
 * @typedef {import('./measure.js').Rate} Rate
 *
 * @typedef {object} Options
 * @property {string[]} only  types; all where it is empty
 * @property {number} rows  of the comparison with the loader, and at most of a cell
 * @property {boolean} quick  a shorter look, with fewer cells and a single turn
 * @property {(text: string) => void} progress
 * @property {import('../servers.js').Servers} servers
 *
 * @typedef {typeof FULL & {rows: number, progress: (text: string) => void, servers: import('../servers.js').Servers}} MeasureOptions
 *
 * @typedef {object} Measured
 * @property {string} type
 * @property {string} title
 * @property {string} [missing]  why there are no figures
 * @property {string} [version]
 * @property {string} [note]
 * @property {Rate[]} [cells]
 * @property {Rate} [ours]  the median of several turns of the best cell
 * @property {{name: string, rowsPerSecond: number}} [loader]  as many turns, in between
 * @property {{name: string, rowsPerSecond: number}} [naive]
 * @property {number} [goalRowsPerSecond]
 */

const FULL = { batchRows: [1, 100, 1000, 10_000, 100_000], writers: [1, 2, 4], cellMs: 2000, turns: 5 }
const QUICK = { batchRows: [100, 10_000, 100_000], writers: [1, 2], cellMs: 700, turns: 1 }

/** How many batches a cell has at hand at most: enough for its time. */
const MAX_BATCHES = 20_000
/** What a turn of the comparison takes, about, where so many times the rows are enough for it. */
const SHORTEST_TURN_SECONDS = 0.3
const MAX_TURN_SECONDS = 5
const MAX_TIMES_ROWS = 4

/** @param {Options} options @returns {Promise<Measured[]>} */
export async function benchSinks ({ only, rows, quick, progress, servers }) {
  const types = only.length > 0 ? only : Object.keys(sinkTypes)
  const unknown = types.find(type => !Object.hasOwn(sinkTypes, type))
  if (unknown) {
    const fix = `Choose from ${Object.keys(sinkTypes).join(', ')}.`
    throw new SluiceError('SLUICE_BENCH_UNKNOWN', `There is no database "${unknown}".`, { fix })
  }
  const measured = []
  for (const type of types) {
    const options = { rows, progress, servers, ...quick ? QUICK : FULL }
    for (const bench of await benchesOf(type)) measured.push(await benchOne(type, bench, options))
  }
  return measured
}

/** @param {string} type @returns {Promise<(SinkBench|{title: string, missing: () => string})[]>} */
async function benchesOf (type) {
  try {
    return [(await import(`./${type}.js`)).bench].flat()
  } catch (error) {
    return [{ title: type, missing: () => describe(error) }]
  }
}

/**
 * @param {string} type
 * @param {SinkBench|{title: string, missing: () => string}} bench
 * @param {MeasureOptions} options
 * @returns {Promise<Measured>}
 */
async function benchOne (type, bench, options) {
  const { title } = bench
  const missing = bench.missing(options.servers)
  if (missing !== null || !('start' in bench)) return { type, title, missing: missing ?? '' }
  options.progress(`${title}: starting`)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  try {
    await chmod(folder, 0o755) // servers run as users of their own
    const running = await bench.start(folder, options.servers)
    try {
      const { version, note = bench.note } = running
      const { goalRowsPerSecond } = bench
      const figures = await measureAll(title, running, options)
      return { type, title, version, ...note && { note }, ...goalRowsPerSecond && { goalRowsPerSecond }, ...figures }
    } finally {
      await running.remove()
    }
  } catch (error) {
    return { type, title, missing: describe(error) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {string} title @param {Running} running @param {MeasureOptions} options */
async function measureAll (title, running, { rows, batchRows, writers, cellMs, turns, progress }) {
  /** @type {Rate[]} */
  const cells = []
  for (const size of batchRows) {
    const batches = narrowBatches({ rows: Math.min(Math.max(rows, size), size * MAX_BATCHES), batchRows: size, source: 'rows' })
    for (const count of writers) {
      const cell = await measure(running, batches, { writers: count, limitMs: cellMs })
      progress(`${title}: ${quantity(size)} a batch, ${count} at a time: ${quantity(cell.rowsPerSecond)} rows/s`)
      cells.push(cell)
    }
  }
  const best = cells.reduce((most, cell) => cell.rowsPerSecond > most.rowsPerSecond ? cell : most)
  const enough = Math.min(MAX_TIMES_ROWS * rows, best.rowsPerSecond * SHORTEST_TURN_SECONDS)
  const compared = Math.ceil(Math.min(best.rowsPerSecond * MAX_TURN_SECONDS, Math.max(rows, enough)))
  const batches = narrowBatches({ rows: compared, batchRows: best.batchRows, source: 'rows' })
  const ours = []
  const theirs = []
  let { loader } = running
  for (let turn = 0; turn < turns; turn++) {
    ours.push((await throughSink(running, batches, { writers: best.writers })).rowsPerSecond)
    if (!loader) continue
    await running.clear()
    try {
      theirs.push(compared / await loader.run(batches))
    } catch (error) {
      if (!isMissingProgram(error)) throw error
      progress(`${title}: not compared with ${loader.name}, as that program is not installed`)
      loader = null
    }
  }
  progress(`${title}: best ${quantity(median(ours))} rows/s${loader ? `, ${loader.name} ${quantity(median(theirs))} rows/s` : ''}`)
  return {
    cells,
    ours: { ...best, rows: compared, rowsPerSecond: median(ours) },
    ...loader && { loader: { name: loader.name, rowsPerSecond: median(theirs) } },
    ...running.naive && { naive: await naiveRate(running, running.naive) }
  }
}

/** @param {unknown} error */
function isMissingProgram (error) {
  const { code, syscall } = /** @type {NodeJS.ErrnoException} */ (error)
  return code === 'ENOENT' && syscall?.startsWith('spawn') === true
}

/** @param {Running} running @param {import('./sink-bench.js').Naive} naive */
async function naiveRate (running, { name, rows, run }) {
  await running.clear()
  return { name, rowsPerSecond: rows / await run(narrowBatches({ rows, batchRows: rows, source: 'rows' })) }
}

/**
 * @param {Measured[]} measured
 * @returns {import('../sections.js').Table}
 */
export function sinksTable (measured) {
  return measured.flatMap(({ title, version, missing, note, cells = [], ours, loader, naive, goalRowsPerSecond }) => {
    const remark = missing ? `not measured: ${missing.split('\n')[0]}` : note ?? ''
    /** @type {import('../sections.js').Table} */
    const table = [[`${title}${version ? ` (${version})` : ''}`, '', remark, null]]
    for (const [batchRows, row] of Map.groupBy(cells, cell => cell.batchRows)) {
      const writers = row.map(cell => cell.writers).join(', ')
      const rates = row.map(({ rowsPerSecond }) => quantity(rowsPerSecond)).join(', ')
      table.push([`  ${quantity(batchRows)} a batch, ${writers} at a time`, `${rates} rows/s`, '', null])
    }
    if (!ours) return table
    const { rowsPerSecond } = ours
    const best = `  our best: ${quantity(ours.batchRows)} a batch, ${ours.writers} at a time`
    const published = goalRowsPerSecond ? goal(`> ${quantity(goalRowsPerSecond)}`, rowsPerSecond > goalRowsPerSecond) : none
    table.push([best, `${quantity(rowsPerSecond)} rows/s`, ...published])
    if (loader) {
      const ratio = rowsPerSecond / loader.rowsPerSecond
      table.push([`  ${loader.name}`, `${quantity(loader.rowsPerSecond)} rows/s`, ...none])
      table.push(['  ratio', ratio.toFixed(2), ...goal('≥ 0.9', ratio >= 0.9)])
    }
    if (naive) {
      const ratio = rowsPerSecond / naive.rowsPerSecond
      table.push([`  ${naive.name}`, `${quantity(naive.rowsPerSecond)} rows/s`, ...none])
      table.push(['  ratio', `${ratio.toFixed(0)} ×`, ...goal('≥ 10 ×', ratio >= 10)])
    }
    return table
  })
}

const none = /** @type {[string, null]} */ (['', null])

/** @param {string} text @param {boolean} isMet @returns {[string, boolean]} */
function goal (text, isMet) {
  return [text, isMet]
}
