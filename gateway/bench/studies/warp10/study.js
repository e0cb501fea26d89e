import { join } from 'node:path'
import { SluiceError } from '../../../base/errors.js'
import { benchOf } from '../../sinks/bench-of.js'
import { openSink } from '../../sinks/open.js'
import { watching } from '../resources.js'
import { summary } from '../statistics.js'
import { readLog, writeLog } from './log.js'
import { countPoints } from './points.js'
import { CHANNELS, COLUMNS, LOG_ROWS } from './published.js'
import { report } from './report.js'

/**
 * The log of a car as text of Warp 10: how many points a second are read from it and stored, by format of the text and database.
 *
 * @typedef {import('../study.js').Cell} Cell
 * @typedef {object} Turn
 * @property {number} seconds
 * @property {number} readSeconds
 * @property {number} cpuSeconds
 * @property {number} [serverCpuSeconds]
 * @property {number} [serverRssBytes]  at most
 */

const DATABASES = ['postgresql', 'mysql', 'influxdb', 'clickhouse', 'mongodb', 'sqlite', 'duckdb', 'file', 'warp10']
const FULL_REPETITIONS = 5
const BATCH_ROWS = 5000
/** Of two cores, about: what a point takes in its text, and what is before and after. */
const POINT_SECONDS = { naive: 4e-6, ordered: 4e-6, optimized: 3e-6, 'multi-value': 1.5e-6, uncompressed: 1.5e-6 }
const BESIDES_SECONDS = 1.5

/** @type {import('../study.js').Study} */
export const warp10 = {
  id: 'warp10',
  title: 'Ingesting 300k datapoints per second in the Warp 10 time series database on a Raspberry Pi',
  paper: 'SenX: Ingesting 300k datapoints per second in the Warp 10 time series database on a Raspberry Pi, with Warp 10 2.1. Blog of ' +
    'SenX, 2019.',

  plan ({ isFull, sweep }) {
    const { databases = DATABASES, layouts = COLUMNS.map(({ format }) => format), batchSizes = [BATCH_ROWS] } = sweep
    const { rows = LOG_ROWS, repetitions = isFull ? FULL_REPETITIONS : 1 } = sweep
    const formats = COLUMNS.filter(({ format }) => layouts.includes(format))
    /** @type {Cell[]} */
    const cells = []
    for (const database of databases) {
      for (const batchRows of batchSizes) {
        for (const { format, title } of formats) {
          cells.push({
            id: `${database}-${format}-${batchRows}`,
            label: `${database}, ${title}${batchSizes.length > 1 ? `, ${batchRows} rows a piece` : ''}`,
            parameters: { database, format, rows, batchRows, repetitions },
            seconds: repetitions * (rows * CHANNELS * POINT_SECONDS[format] + BESIDES_SECONDS)
          })
        }
      }
    }
    const cut = rows < LOG_ROWS ? [`The log is of ${rows} rows; the paper's has ${LOG_ROWS.toLocaleString('en-US')}.`] : []
    return { cells, cut }
  },

  missing: async ({ parameters }, servers) => (await benchOf(parameters.database)).missing(servers),

  async measure ({ parameters }, { servers, folder, signal, shared, progress }) {
    const { database, format, rows, batchRows, repetitions } = /** @type {any} */ (parameters)
    const running = await shared(async within => (await benchOf(database)).start(within, servers))
    const log = writeLog(join(folder, 'log.gts'), { format, rows, batchRows })
    const points = rows * CHANNELS
    /** @type {Turn[]} */
    const turns = []
    while (turns.length < repetitions) {
      if (repetitions > 1) progress(`${turns.length + 1} of ${repetitions} times`)
      await running.clear()
      turns.push(await watchedTurn(running, log, signal))
      const stored = await countPoints(running.address, log.channels)
      if (stored !== points) throw new SluiceError('SLUICE_BENCH_COUNT', `${points} points were written, and ${stored} are there.`)
    }
    const rates = turns.map(({ seconds }) => points / seconds)
    const medianOf = (/** @type {keyof Turn} */ name) => Number(summary(turns.map(turn => Number(turn[name])))?.median)
    const hasServer = turns.every(({ serverCpuSeconds }) => serverCpuSeconds !== undefined)
    return {
      measures: {
        points,
        pointsPerSecond: Number(summary(rates)?.median),
        readPointsPerSecond: points / medianOf('readSeconds'),
        cpuMicrosecondsPerPoint: medianOf('cpuSeconds') / points * 1e6,
        ...hasServer && {
          serverCpuMicrosecondsPerPoint: medianOf('serverCpuSeconds') / points * 1e6,
          serverRssBytes: medianOf('serverRssBytes')
        },
        textBytesPerPoint: log.bytes / points
      },
      samples: { pointsPerSecond: rates },
      version: running.version,
      settings: running.settings,
      ...running.note && { notes: [running.note] }
    }
  },

  report
}

/** @param {import('../../sinks/sink-bench.js').Running} running @param {import('./log.js').Log} log @param {AbortSignal} signal */
async function watchedTurn (running, log, signal) {
  const work = async () => ingest(await openSink(running.address, 1), log, signal)
  const { result, usage: { processes: { server } } } = await watching({ running }, work)
  /** @type {Turn} */
  const turn = result
  if (server?.cpuPercent) turn.serverCpuSeconds = server.cpuPercent.growth
  if (server?.rssBytes) turn.serverRssBytes = server.rssBytes.max
  return turn
}

/**
 * Reads the log and stores it, by one thread, as the study's: a piece is read while the database has the one before it. The tables are made
 * before the clock starts.
 * @param {import('../../sinks/open.js').Opened} opened  it is closed
 * @param {import('./log.js').Log} log
 * @param {AbortSignal} signal
 * @returns {Promise<Turn>}
 */
export async function ingest ({ sink, close }, log, signal) {
  /** @type {Promise<unknown>} */
  let writing = Promise.resolve()
  try {
    for (const first of readLog({ ...log, pieces: log.pieces.slice(0, 1) })) await sink.prepare([first])
    let readMs = 0
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    const batches = readLog(log)
    for (let isOver = false; !isOver;) {
      signal.throwIfAborted()
      const beganMs = performance.now()
      const { value: batch, done } = batches.next()
      readMs += performance.now() - beganMs
      await writing
      if (batch) writing = sink.write([batch])
      isOver = done === true
    }
    const { user, system } = process.cpuUsage(cpu)
    return { seconds: (performance.now() - startMs) / 1000, readSeconds: readMs / 1000, cpuSeconds: (user + system) / 1e6 }
  } finally {
    await Promise.allSettled([writing]) // of one that was stopped
    await close()
  }
}
