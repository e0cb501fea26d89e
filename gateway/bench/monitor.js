import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { SluiceError } from '../base/errors.js'
import { Batch } from '../batch/batch.js'
import { connect } from '../databases/postgresql/connection.js'
import { open } from '../databases/postgresql/sink.js'
import { LocalMonitor } from '../stats/monitor/monitor.js'
import { Sampler } from '../stats/monitor/sampler.js'
import { SingleProcess } from '../stats/monitor/single-process.js'
import { SystemFiles } from '../stats/monitor/system-files.js'
import { median, narrowBatches } from './narrow-rows.js'
import { openPostgresql } from './postgresql-server.js'

const BATCH_ROWS = 5000
const VALUES_PER_ROW = 2
const BATCHES_PER_SECOND = 10
const WARM_UP_SECONDS = 3
/** With those of the load and PostgreSQL's own processes, they are more than ten. */
const IDLE_CONNECTIONS = 3

const files = new SystemFiles()

/**
 * What the monitor costs the process that it is in: one that writes 100,000 values a second into PostgreSQL, by turns without it and with
 * it, which watches the server's processes, this one, the machine and a folder once a second.
 * @param {import('./servers.js').Servers} servers
 * @param {{rounds?: number, seconds?: number, progress?: (text: string) => void}} [options]
 */
export async function benchMonitor (servers, { rounds = 7, seconds = 15, progress = () => {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-monitor-'))
  const database = await openPostgresql(servers, folder)
  const pool = new pg.Pool({ ...database.login, max: IDLE_CONNECTIONS, idleTimeoutMillis: 0 })
  pool.on('error', () => {})
  try {
    const pid = await postmaster(pool)
    const own = new SingleProcess(files, process.pid)
    const load = await startLoad(database.login)
    await Promise.all(Array.from({ length: IDLE_CONNECTIONS }, () => pool.query('SELECT pg_sleep(0.1)'))) // each by a process of its own
    const watched = {
      processes: { postgresql: { pid }, bench: { pid: process.pid, isAlone: true } }, folders: { bench: folder }, machine: true
    }
    const sampler = new Sampler(new LocalMonitor(watched))
    /** @param {boolean} isWatched @returns {Promise<number>} percent of a core */
    const measure = async isWatched => {
      if (isWatched) await sampler.start()
      const before = { cpu: cpuSeconds(own), ms: performance.now() }
      await sleep(seconds * 1000)
      const percent = (cpuSeconds(own) - before.cpu) / (performance.now() - before.ms) * 1e5
      if (isWatched) await sampler.stop()
      return percent
    }
    /** @type {{without: number, with: number}[]} */
    const pairs = []
    try {
      await sleep(WARM_UP_SECONDS * 1000)
      for (let round = 0; round < rounds; round++) {
        // In turns: what comes first in one is second in the next.
        const order = round % 2 === 0 ? [false, true] : [true, false]
        const [first, second] = [await measure(order[0]), await measure(order[1])]
        pairs.push(order[0] ? { with: first, without: second } : { without: first, with: second })
        progress(`${round + 1} of ${rounds}: ${pairs[round].without.toFixed(2)} % without, ${pairs[round].with.toFixed(2)} % with`)
      }
    } finally {
      await load.stop()
    }
    const valuesPerSecond = load.written * BATCH_ROWS * VALUES_PER_ROW / load.seconds
    return {
      rounds,
      seconds,
      valuesPerSecond,
      processes: Number(sampler.samples.at(-1)?.processes.postgresql.processes),
      percentOfCore: { without: median(pairs.map(pair => pair.without)), with: median(pairs.map(pair => pair.with)) },
      percentOfCoreOfMonitor: median(pairs.map(pair => pair.with - pair.without)),
      pairs,
      summary: sampler.summary().processes.postgresql
    }
  } finally {
    await pool.end()
    await database.remove()
    await rm(folder, { recursive: true })
  }
}

/** With what it has started, as the monitor does. @param {SingleProcess} own */
function cpuSeconds (own) {
  own.read()
  return own.totals.cpuSeconds + own.reaped.cpuSeconds
}

/** @param {pg.Pool} pool @returns {Promise<number>} */
async function postmaster (pool) {
  const { rows: [{ pid }] } = await pool.query('SELECT pg_backend_pid() AS pid')
  const backend = new SingleProcess(files, pid)
  if (files.text(`/proc/${pid}/comm`)?.startsWith('postgres') && backend.read()) return backend.parent
  throw new SluiceError('SLUICE_BENCH_PROCESS', 'The PostgreSQL that was named does not run on this machine, or this is not Linux.')
}

/** @param {import('./postgresql.js').Login} login */
async function startLoad (login) {
  const server = connect({ ...login, connections: 2 })
  const sink = await open({}, { server })
  const [{ source, time, fields, columns }] = narrowBatches({ rows: BATCH_ROWS, batchRows: BATCH_ROWS, source: 'monitored' })
  const load = { written: 0, seconds: 0, stop: async () => {} }
  let isStopped = false
  const begunMs = performance.now()
  const running = (async () => {
    for (let seq = 0; !isStopped; seq++) {
      const batch = new Batch({ source, time, fields, columns, identity: { gateway: 'bench', source, epoch: 'bench', seq } })
      if (seq === 0) await sink.prepare([batch])
      await sink.write([batch])
      load.written++
      await sleep(Math.max(0, begunMs + (seq + 1) * 1000 / BATCHES_PER_SECOND - performance.now()))
    }
  })()
  load.stop = async () => {
    isStopped = true
    try {
      await running
      load.seconds = (performance.now() - begunMs) / 1000
    } finally {
      await sink.close()
      await server.close()
    }
  }
  return load
}
