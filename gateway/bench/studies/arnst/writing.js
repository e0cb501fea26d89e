import { SluiceError } from '../../../base/errors.js'
import { folderUsage } from '../../../stats/monitor/folder.js'
import { Client } from './client.js'
import { costsOf } from './costs.js'
import { CHANNELS, PERIOD_NS, RATE_HZ, samplesAt } from './machine.js'
import { openReader } from './opened-reader.js'
import { reading, storing } from './variants.js'

/**
 * One of the writers.
 *
 * @typedef {import('../study.js').CellContext} CellContext
 * @typedef {import('../study.js').Measured} Measured
 * @typedef {import('../../sinks/sink-bench.js').Running} Running
 * @typedef {import('./stand.js').Stand} Stand
 * @typedef {import('./variants.js').Layout} Layout
 * @typedef {import('./writer.js').Stored} Stored
 *
 * @typedef {object} Writing
 * @property {string} database
 * @property {Layout} layout
 * @property {number} warmUpSeconds
 * @property {number} seconds
 */

const PROGRAM = new URL('writer.js', import.meta.url)
/** Of Figure 1. */
const SHOWN_SAMPLES = RATE_HZ
/** Of data that are not measured while they are written: that of the paper's example. */
const FILL_TIME = '2018-02-12T19:56:49Z'

/**
 * Writes in real time into an empty database.
 * @param {string} what  the name by which the stand holds what is stored
 * @param {Writing} writing
 * @param {CellContext & {stand: Stand}} context
 * @returns {Promise<Measured>}
 */
export async function measureWriting (what, { database, layout, warmUpSeconds, seconds }, { stand, folder, signal, progress }) {
  const running = await stand.empty()
  const sizeBefore = await sizeOf(running)
  const client = new Client(PROGRAM, signal)
  try {
    await client.ask('open', { folder, ...clientOptions(running, database, layout) })
    const { lap, usage } = await client.watched(running, { warmUpSeconds, seconds, progress })
    const stored = await client.ask('finish', { isEndless: true })
    const sizeAfter = await sizeOf(running)
    await checkCount(running, { database, layout, stored, signal })
    stand.hold(what, stored)
    const { stored: commits, failed } = lap.commits
    const growth = sizeBefore === undefined || sizeAfter === undefined ? undefined : sizeAfter - sizeBefore
    return {
      measures: {
        ...costsOf(usage),
        ...growth !== undefined && { dataBytesPerSecond: growth / (warmUpSeconds + seconds) },
        samples: stored.samples,
        samplesPerSecond: lap.stored / lap.seconds,
        commitsPerSecond: (commits?.count ?? 0) / lap.seconds,
        missedSamples: lap.missed,
        ...commits && { commitMedianMicroseconds: commits.p50, commitP95Microseconds: commits.p95 }
      },
      series: shown(stored),
      version: running.version,
      settings: running.settings,
      notes: [...usage.notes, ...failed ? [`${failed.count} commits failed and were tried again.`] : []]
    }
  } finally {
    await client.end()
  }
}

/**
 * Writes the same as fast as it goes, for readers whose writer was measured in an earlier run.
 * @param {string} what @param {Writing} writing
 * @param {Pick<CellContext, 'folder'|'signal'> & {stand: Stand}} context
 */
export async function fill (what, { database, layout, warmUpSeconds, seconds }, { stand, folder, signal }) {
  const running = await stand.empty()
  const client = new Client(PROGRAM, signal)
  try {
    const options = clientOptions(running, database, layout)
    const writer = { ...options.writer, batchRows: RATE_HZ } // the same rows, in fewer commits
    await client.ask('open', { folder, ...options, writer })
    await client.ask('begin', { startTime: FILL_TIME, samples: Math.round((warmUpSeconds + seconds) * RATE_HZ) })
    const stored = await client.ask('finish', { isEndless: false })
    await checkCount(running, { database, layout, stored, signal })
    stand.hold(what, stored)
  } finally {
    await client.end()
  }
}

/** @param {Running} running @param {string} database @param {Layout} layout */
function clientOptions ({ address }, database, layout) {
  const { sink, ...options } = storing(database, layout)
  return { ...options, address: { ...address, options: { ...address.options, ...sink } } }
}

/** @param {Running} running @returns {Promise<number|undefined>} what its data take on the disk */
async function sizeOf ({ watched }) {
  return watched?.folder === undefined ? undefined : (await folderUsage(watched.folder))?.diskBytes
}

/**
 * Of every channel as many samples must be there as were stored.
 * @param {Running} running @param {{database: string, layout: Layout, stored: Stored, signal: AbortSignal}} written
 * @throws {SluiceError} SLUICE_BENCH_COUNT
 */
async function checkCount ({ address }, { database, layout, stored: { startNs, runs, samples }, signal }) {
  const { reader: options, sensors } = reading(database, layout)
  const { reader, close } = await openReader(address, options)
  try {
    const range = { from: startNs, to: startNs + BigInt(runs.at(-1)?.[1] ?? 0) * PERIOD_NS }
    const summaries = await reader.summaries({ ...range, sensors, statistics: ['count'], signal })
    const counts = sensors.map(sensor => summaries.find(each => each.sensor === sensor)?.count ?? 0)
    if (counts.every(count => count === samples)) return
    throw new SluiceError('SLUICE_BENCH_COUNT', `${samples} samples were written, and of the channels ${counts.join(', ')} are there.`)
  } finally {
    await close()
  }
}

/** The first samples, for Figure 1. @param {Stored} stored @returns {Measured['series']} */
function shown ({ startNs }) {
  const { columns } = samplesAt(startNs, 0, SHOWN_SAMPLES)
  const seconds = Array.from({ length: SHOWN_SAMPLES }, (_, i) => i / RATE_HZ)
  return Object.fromEntries(CHANNELS.map((name, i) => [name, { seconds, values: Array.from(columns[i], Number) }]))
}
