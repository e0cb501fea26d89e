import { SluiceError } from '../../../base/errors.js'
import { benchOf } from '../../sinks/bench-of.js'
import { writeByClients } from '../clients.js'
import { usageOf } from '../resources.js'
import { summary } from '../statistics.js'
import { report } from './report.js'

/**
 * Storing sensor data in different database architectures: how many records a second a database takes, by the size of batches and the
 * number of writers.
 *
 * @typedef {import('../study.js').Cell} Cell
 */

const DATABASES = ['mysql', 'mongodb', 'kafka', 'voltdb', 'file', 'postgresql', 'clickhouse', 'influxdb', 'sqlite', 'duckdb']
const FULL = { batchRows: [1, 10, 50, 100, 500, 1000, 10_000], writers: [1, 2, 4, 8], rows: 1_000_000, seconds: 30 }
const QUICK = { batchRows: [1, 100, 1000, 10_000], writers: [1, 4], rows: 1_000_000, seconds: 1.5 }
/** To empty the tables, open connections and count. */
const BESIDES_SECONDS = 0.7

/** @type {import('../study.js').Study} */
export const haenisch = {
  id: 'haenisch',
  title: 'Storing sensor data in different database architectures',
  paper: 'T. Haenisch, M. Roessle, R. Kübler: Storing Sensor Data in Different Database Architectures. ATINER\'S Conference Paper ' +
    'Series, 2016.',

  plan ({ isFull, sweep }) {
    const { databases = DATABASES, batchSizes, writers, rows, seconds, clientsAs } = sweep
    const own = isFull ? FULL : QUICK
    const limit = { rows: rows ?? own.rows, seconds: seconds ?? own.seconds }
    /** @type {Cell[]} */
    const cells = []
    for (const database of databases) {
      for (const batchRows of batchSizes ?? own.batchRows) {
        for (const count of writers ?? own.writers) {
          cells.push({
            id: `${database}-${batchRows}-${count}`,
            label: `${database}, ${batchRows} a batch, ${count} ${count === 1 ? 'writer' : 'writers'}`,
            parameters: { database, batchRows, writers: count, ...limit, ...clientsAs && { clientsAs } },
            seconds: limit.seconds + BESIDES_SECONDS
          })
        }
      }
    }
    return { cells, cut: isFull ? [] : [`Each cell ends after ${limit.seconds} s; the paper writes a million records.`] }
  },

  missing: async ({ parameters }, servers) => (await benchOf(parameters.database)).missing(servers),

  async measure ({ parameters }, { servers, signal, shared }) {
    const { database, batchRows, writers, rows, seconds, clientsAs } = parameters
    const running = await shared(async folder => (await benchOf(database)).start(folder, servers))
    await running.clear()
    const written = await writeByClients({
      address: running.address,
      batches: { url: new URL('batches.js', import.meta.url).href, options: { batchRows } },
      clients: Number(writers),
      batchesPerClient: Math.ceil(Number(rows) / Number(batchRows) / Number(writers)),
      limitMs: Number(seconds) * 1000,
      ...clientsAs === 'processes' && { clientsAs }
    }, { signal, running })
    const count = await running.count() ?? written.rows
    // Without transactions, rows of a batch that failed may be there.
    if (count < written.rows || count > written.rows + written.failedMicroseconds.length * Number(batchRows)) {
      throw new SluiceError('SLUICE_BENCH_COUNT', `${written.rows} rows were written, and ${count} are there.`)
    }
    const latency = summary(written.latencyMicroseconds)
    const failures = summary(written.failedMicroseconds)
    return {
      measures: {
        rows: count,
        rowsPerSecond: written.rows / written.seconds,
        batches: written.latencyMicroseconds.length,
        failedBatches: written.failedMicroseconds.length,
        ...failures && { failedMedianMicroseconds: failures.median },
        ...latency && { latencyMedianMicroseconds: latency.median, latencyP95Microseconds: latency.p95 },
        ...written.cpuSeconds !== undefined && { writerCpuPercent: written.cpuSeconds / written.seconds * 100 },
        ...usageOf('server', written.usage),
        ...usageOf('client', written.usage)
      },
      version: running.version,
      settings: running.settings,
      notes: [...running.note ? [running.note] : [], ...written.errors]
    }
  },

  report
}
