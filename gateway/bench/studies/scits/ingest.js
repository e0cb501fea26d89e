import { totalmem } from 'node:os'
import { SluiceError } from '../../../base/errors.js'
import { writeByClients } from '../clients.js'
import { summary } from '../statistics.js'
import { batchesOf } from './batches.js'
import { emptyTable } from './opened.js'
import { rollingRate } from './rate.js'

/**
 * The three workloads that write: batching, concurrency and scaling differ in their parameters alone.
 *
 * @typedef {import('../study.js').Measured} Measured
 *
 * @typedef {object} Ingest
 * @property {string} database
 * @property {number} batchRows
 * @property {number} clients
 * @property {number} sensors
 * @property {number} startMs  since 1970, of the first row
 * @property {number} stepNs  from one row to the next
 * @property {number} [batches]  of all clients; otherwise as many as the time allows
 * @property {number} seconds  after which it ends
 * @property {number} [windowSeconds]  of the rate over time
 */

/** Time, sensor and value, of 8 bytes each. */
const ROW_BYTES = 24

/**
 * Writes into an empty table.
 * @param {Ingest} ingest @param {import('./opened.js').Opened} opened @param {AbortSignal} signal
 * @returns {Promise<Measured>}
 * @throws {SluiceError} SLUICE_BENCH_COUNT
 */
export async function ingested (ingest, opened, signal) {
  const { database, batchRows, clients, sensors, startMs, stepNs, batches = Infinity, seconds: limitSeconds, windowSeconds } = ingest
  const rows = { batchRows, sensors, startNs: BigInt(startMs) * 1_000_000n, stepNs: BigInt(stepNs), clients }
  await emptyTable(opened, database, batchesOf(rows, 0).next().value)
  const written = await writeByClients({
    address: opened.address,
    batches: { url: new URL('batches.js', import.meta.url).href, options: rows },
    clients,
    ...batches < Infinity && { batchesPerClient: Math.ceil(batches / clients) },
    limitMs: limitSeconds * 1000
  }, { signal, running: opened.running })
  const failedRows = written.failedMicroseconds.length * batchRows
  const rowsThere = await opened.running.count() ?? written.rows
  checkCount(rowsThere, { rows: written.rows, failedRows })
  const stored = written.batches.filter(({ isStored }) => isStored)
  const rolling = windowSeconds ? rollingRate(stored, { batchRows, windowSeconds }) : null
  const due = Math.ceil(batches / clients) * clients
  return {
    measures: {
      rows: written.rows,
      rowsThere,
      seconds: written.seconds,
      rowsPerSecond: written.rows / written.seconds,
      megabytesPerSecond: written.rows * ROW_BYTES / written.seconds / 1e6,
      failedBatches: written.failedMicroseconds.length,
      ...latencyMeasures(written.latencyMicroseconds),
      ...written.cpuSeconds !== undefined && { writerCpuPercent: written.cpuSeconds / written.seconds * 100 },
      ...usageMeasures(written)
    },
    samples: {
      batchClient: written.batches.map(({ client }) => client),
      batchEndedMs: written.batches.map(({ endedMs }) => endedMs),
      batchMicroseconds: written.batches.map(({ microseconds }) => microseconds),
      batchIsStored: written.batches.map(({ isStored }) => Number(isStored))
    },
    series: {
      ...written.series,
      ...memoryOver(written.series),
      ...rolling && {
        rowsPerSecond: { seconds: rolling.seconds, values: rolling.rates },
        storedRows: { seconds: rolling.seconds, values: rolling.rows }
      }
    },
    version: opened.running.version,
    settings: opened.running.settings,
    notes: [
      ...opened.running.note ? [opened.running.note] : [],
      ...batches < Infinity && written.batches.length < due
        ? [`It ended after ${limitSeconds} s: ${written.batches.length} of ${due} batches of ${batchRows} rows.`]
        : [],
      ...failedRows > 0
        ? [`Of the ${failedRows} rows of batches that failed, ${rowsThere - stored.length * batchRows} are there all the same.`]
        : [],
      ...written.errors
    ]
  }
}

/**
 * All rows that were written are there, and no others; but a server that has not answered in time may have stored a batch, or a part of it.
 * @param {number} there @param {{rows: number, failedRows: number}} written
 * @throws {SluiceError} SLUICE_BENCH_COUNT
 */
export function checkCount (there, { rows, failedRows }) {
  if (there >= rows && there <= rows + failedRows) return
  throw new SluiceError('SLUICE_BENCH_COUNT', `${rows} rows were written, and ${there} are there.`)
}

/** @param {number[]} latencyMicroseconds @returns {Record<string, number>} */
function latencyMeasures (latencyMicroseconds) {
  const latency = summary(latencyMicroseconds)
  if (!latency) return {}
  const { mean, median, p95, max } = latency
  return {
    latencyMeanMicroseconds: mean, latencyMedianMicroseconds: median, latencyP95Microseconds: p95, latencyMaxMicroseconds: max
  }
}

/**
 * Of an embedded database, the server is the client.
 * @param {import('../clients.js').Watched} watched
 * @returns {Record<string, number>}
 */
function usageMeasures ({ usage }) {
  const { server, client } = usage?.processes ?? {}
  const its = server?.rssBytes ? server : client
  if (!its) return {}
  const { cpuPercent, userPercent, rssBytes, writtenBytesPerSecond } = its
  const found = {
    serverCpuPercent: cpuPercent?.mean,
    serverUserPercent: userPercent?.mean,
    serverRssBytes: rssBytes?.mean,
    serverMemoryPercent: rssBytes && rssBytes.mean / totalmem() * 100,
    serverWrittenBytesPerSecond: writtenBytesPerSecond?.mean,
    machineIowaitPercent: usage?.machine.iowaitPercent?.mean,
    machineCores: usage?.machine.cores?.mean,
    dataBytes: usage?.folders.data?.diskBytes?.growth
  }
  return /** @type {Record<string, number>} */ (Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)))
}

/** @param {import('../clients.js').Watched['series']} series */
function memoryOver (series) {
  const rss = series?.serverRssBytes ?? series?.clientRssBytes
  return rss && { serverMemoryPercent: { seconds: rss.seconds, values: rss.values.map(bytes => bytes / totalmem() * 100) } }
}
