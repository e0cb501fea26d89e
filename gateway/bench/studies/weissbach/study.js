import { SluiceError } from '../../../base/errors.js'
import { benchOf } from '../../sinks/bench-of.js'
import { EMBEDDED } from '../clients.js'
import { usageOf } from '../resources.js'
import { box, summary } from '../statistics.js'
import { runClients } from './clients.js'
import { ENGINE_DATABASES, ENGINES, runEngine } from './engines.js'
import { BLOB_BYTES, PATTERNS } from './published.js'
import { report } from './report.js'

/**
 * Databases inside stream processing: how many records a second a flow reads, inserts, updates (reads, adds, replaces) or mixes, and how
 * long a read takes, by the size of a BLOB.
 *
 * @typedef {import('../study.js').Cell} Cell
 */

/** Those whose sink has the layout upsert. */
const DATABASES = ['postgresql', 'mysql', 'mongodb', 'cassandra', 'hbase', 'sqlite', 'duckdb']

/** `ids` of the fixed set by the size of the BLOB: 1,000,000 in the paper, which are 100 GB of the largest. */
const FULL = { ids: [1_000_000, 100_000, 10_000], seconds: 600, warmUpSeconds: 10, gigabytes: 40 }
const QUICK = { ids: [5000, 1000, 200], seconds: 2, warmUpSeconds: 0.3, gigabytes: 2 }
const CLIENTS = [4]

/** Records that a message has: one, as the paper's operators see them, or as many as a flow gathers while they are no more than 1 MB. */
const BATCH_ROWS = [1, 1000]
const MESSAGE_BYTES = 1_000_000
const NUMBERS_BYTES = 56

/** FerretDB 1 fetches all documents from its store for a request of several keys, and replaces single ones. */
const MONGODB_ROWS = 100

/** So many take a while. */
const MANY = 100_000

/** To start its virtual machines. */
const ENGINE_SECONDS = 10

/** To empty the tables, store the fixed set, and look at what is there. */
const BESIDES_SECONDS = 1.5

/** @type {import('../study.js').Study} */
export const weissbach = {
  id: 'weissbach',
  title: 'Databases inside stream processing',
  paper: 'M. Weißbach, H. Hilbert, T. Springer: Performance Analysis of Continuous Binary Data Processing using Distributed Databases ' +
    'within Stream Processing Environments. CLOSER 2020.',

  plan ({ isFull, sweep }) {
    const { databases = DATABASES, batchSizes = BATCH_ROWS, writers = CLIENTS, rows, clientsAs } = sweep
    const own = isFull ? FULL : QUICK
    const { seconds = own.seconds, warmUpSeconds = own.warmUpSeconds } = sweep
    /** @type {Cell[]} */
    const cells = []
    for (const database of databases) {
      for (const [i, blobBytes] of BLOB_BYTES.entries()) {
        for (const pattern of Object.keys(PATTERNS)) {
          for (const batchRows of batchSizes) {
            for (const clients of EMBEDDED.includes(database) ? [1] : writers) {
              const messageRows = Math.min(batchRows, mostRows(database, blobBytes))
              cells.push({
                id: `${database}-${blobBytes}-${pattern}-${batchRows}-${clients}`,
                label: `${database}, ${pattern}, ${blobBytes} B, ${messageRows} a message, ${counted(clients, 'client')}`,
                parameters: {
                  database, pattern, blobBytes, batchRows, messageRows, clients, ids: rows ?? own.ids[i], seconds, warmUpSeconds,
                  gigabytes: own.gigabytes, ...clientsAs && { clientsAs }
                },
                seconds: seconds + warmUpSeconds + BESIDES_SECONDS
              })
            }
          }
        }
      }
    }
    for (const cell of cells.filter(({ parameters }) => inEngines(parameters, isFull))) {
      for (const [engine, name] of Object.entries(ENGINES)) {
        cells.splice(cells.findLastIndex(({ parameters }) => parameters.database === cell.parameters.database) + 1, 0, {
          id: `${engine}-${cell.id}`,
          label: `${name}, ${cell.label}`,
          parameters: { ...cell.parameters, engine },
          seconds: cell.seconds + ENGINE_SECONDS
        })
      }
    }
    return { cells, cut: cut({ isFull, seconds, ids: own.ids.map(count => rows ?? count), gigabytes: own.gigabytes }) }
  },

  async missing ({ parameters }, servers) {
    const { database, engine } = parameters
    return DATABASES.includes(String(database))
      ? (await benchOf(database)).missing(servers) ?? (engine ? servers(String(engine)).missing() : null)
      : `Its sink has no layout upsert; ${DATABASES.join(', ')} have.`
  },

  async measure ({ parameters }, { servers, folder: own, signal, shared, progress }) {
    const { database, pattern, clientsAs, engine, ...numbers } = parameters
    const { blobBytes, messageRows, clients, ids, seconds, warmUpSeconds, gigabytes } = /** @type {Record<string, number>} */ (numbers)
    const running = await shared(async folder => (await benchOf(database)).start(folder, servers))
    await running.clear()
    const load = {
      address: running.address,
      pattern,
      blobBytes,
      ids: pattern === 'insert' ? 0 : ids,
      clients,
      batchRows: messageRows,
      gatheredRows: mostRows(String(database), blobBytes),
      warmUpMs: warmUpSeconds * 1000,
      limitMs: seconds * 1000,
      maxRecords: Math.ceil(gigabytes * 1e9 / (blobBytes + NUMBERS_BYTES) / clients)
    }
    if (engine) return measuredIn(await servers(String(engine)).start({ folder: own }), running, load, { folder: own, signal })
    const loads = Array.from({ length: clients }, (_, client) => ({ ...load, client }))
    if (ids >= MANY && pattern !== 'insert') progress(`storing ${ids} records to begin with`)
    const { runs, checks, usage } = await runClients(loads, {
      clientsAs: clientsAs === 'processes' ? 'processes' : 'threads', signal, running
    })
    const total = (/** @type {any[]} */ of, /** @type {string} */ name) => of.reduce((sum, each) => sum + each[name], 0)
    const rows = total(checks, 'rows')
    const count = await running.count()
    if (count !== rows) throw new SluiceError('SLUICE_BENCH_COUNT', `${rows} ids have been stored, and ${count} rows are there.`)
    const took = Math.max(...runs.map(run => run.seconds))
    const cpuSeconds = total(runs, 'cpuSeconds')
    return {
      measures: {
        records: total(runs, 'records'),
        recordsPerSecond: total(runs, 'records') / took,
        rows,
        comparedReads: total(checks, 'compared'),
        failedRequests: runs.flatMap(run => run.failedMicroseconds).length,
        ...latency('read', runs.flatMap(run => run.readMicroseconds)),
        ...latency('write', runs.flatMap(run => run.writeMicroseconds)),
        ...Number.isFinite(cpuSeconds) && { operatorCpuPercent: cpuSeconds / took * 100 },
        ...usageOf('server', usage),
        ...usageOf('client', usage)
      },
      version: running.version,
      settings: running.settings,
      notes: [...new Set(runs.flatMap(run => run.errors))]
    }
  },

  report
}

/**
 * One by one, and none in doubt: where a request fails, the job ends.
 * @param {import('../../servers.js').Server} engine
 * @param {import('../../sinks/sink-bench.js').Running} running
 * @param {{address: any, pattern: any, blobBytes: number, ids: number, clients: number, warmUpMs: number, limitMs: number,
 *   maxRecords: number}} load
 * @param {{folder: string, signal: AbortSignal}} how
 */
async function measuredIn (engine, running, { address, pattern, blobBytes, ids, clients, warmUpMs, limitMs, maxRecords }, how) {
  const { runs, count } = await runEngine(engine, address, { pattern, blobBytes, ids, clients, warmUpMs, limitMs, maxRecords }, how)
  const total = (/** @type {'records'|'rows'|'compared'} */ name) => runs.reduce((sum, run) => sum + run[name], 0)
  const rows = total('rows')
  if (count !== rows) throw new SluiceError('SLUICE_BENCH_COUNT', `${rows} ids have been stored, and ${count} rows are there.`)
  return {
    measures: {
      records: total('records'),
      recordsPerSecond: total('records') / Math.max(...runs.map(({ seconds }) => seconds)),
      rows: count,
      comparedReads: total('compared'),
      failedRequests: 0,
      ...latency('read', runs.flatMap(run => run.readMicroseconds)),
      ...latency('write', runs.flatMap(run => run.writeMicroseconds))
    },
    version: running.version,
    settings: running.settings
  }
}

/**
 * Whether engines are measured in it: one by one, as in the paper; where time is short, with the smallest BLOB.
 * @param {Cell['parameters']} parameters @param {boolean} isFull
 */
function inEngines ({ database, batchRows, blobBytes }, isFull) {
  return ENGINE_DATABASES.includes(String(database)) && batchRows === 1 && (isFull || blobBytes === BLOB_BYTES[0])
}

/** @param {number} count @param {string} what */
function counted (count, what) {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Of a message. @param {string} database @param {number} blobBytes */
function mostRows (database, blobBytes) {
  const most = database === 'mongodb' ? MONGODB_ROWS : Math.max(...BATCH_ROWS)
  return Math.min(most, Math.floor(MESSAGE_BYTES / (blobBytes + NUMBERS_BYTES)))
}

/** @param {'read'|'write'} request @param {number[]} microseconds @returns {Record<string, number>} */
function latency (request, microseconds) {
  const all = { ...summary(microseconds), ...box(microseconds) }
  return Object.fromEntries(Object.entries(all).map(([name, value]) =>
    [`${request}${name[0].toUpperCase()}${name.slice(1)}${name === 'count' ? '' : 'Microseconds'}`, value]))
}

/** @param {{isFull: boolean, seconds: number, ids: number[], gigabytes: number}} own */
function cut ({ isFull, seconds, ids, gigabytes }) {
  const sizes = BLOB_BYTES.map((bytes, i) => `${ids[i].toLocaleString('en-GB')} of ${bytes.toLocaleString('en-GB')} B`)
  return [
    ...isFull ? [] : [`Each cell takes ${seconds} s; the paper's take 10 minutes.`, 'Engines are measured with the smallest BLOB alone.'],
    `Read and updated are ${sizes.join(', ')}; in the paper 1,000,000 of each size, of which the largest would be 100 GB.`,
    `A cell ends when its records are ${gigabytes} GB.`
  ]
}
