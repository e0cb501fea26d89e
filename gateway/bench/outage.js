import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { SluiceError } from '../base/errors.js'
import { postgresqlNodes, startGateway } from './pipeline.js'

/** Two machine tools of five channels: 100,000 values a second. */
const MACHINES = ['lathe', 'mill']
const CHANNELS = 5
const RATE_HZ = 10_000
const SAMPLE_MS = 100
/** Without a new row for so long, the bench gives up. The sink may wait half a minute before it tries again. */
const STALLED_MS = 90_000
/** The samples are made in real time; a process that was held up makes them later, and all of them. */
const BACKLOG_MS = 60_000

/**
 * A gateway that makes 100,000 values a second, stages them over Mosquitto and stores them in PostgreSQL, which goes away for as long as
 * they are made and then comes back:
 * the most memory that the gateway had, and what is stored in the end.
 * @param {{seconds?: number}} [options]  of the outage
 * @returns
 *   {Promise<{seconds: number, valuesPerSecond: number, produced: number, rows: number, distinct: number, before: number, catchUpSeconds: number,
 *   memoryMegabytes: {start: number, most: number, catchingUp: number}}>} rows that were made, that are stored, that differ, and that were
 *   stored before the outage
 */
export async function benchOutage ({ seconds = 60 } = {}) {
  const [{ startMosquitto }, { startPostgresql }] = await Promise.all([import('../../test/servers/mosquitto.js'), import('../../test/servers/postgresql.js')])
  const folder = await mkdtemp(join(tmpdir(), 'sluice-outage-'))
  const samples = RATE_HZ * seconds
  const produced = samples * MACHINES.length
  // The broker is capped, as in broker/mosquitto.conf: what is over that comes from the spool.
  const mosquitto = await startMosquitto({ conf: [`max_queued_bytes ${2 ** 24}`, 'set_tcp_nodelay true'] })
  const database = await startPostgresql()
  /** @type {import('./process.js').WatchedProcess|undefined} */
  let gateway
  try {
    gateway = await startGateway(join(folder, 'gateway'), [
      { id: 'broker', type: 'sluice-broker', url: mosquitto.url, protocolVersion: 'auto', verify: true, keepAliveSeconds: 30 },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'out', broker: 'broker', spoolMegabytes: 8192, wires: [] },
      { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', wires: [['sink']] },
      ...MACHINES.map(name => ({ id: name, type: 'sluice-simulator', z: 'tab', name, preset: 'machine-tool', sampleRateHz: RATE_HZ, maxSamples: samples, maxBacklogMs: BACKLOG_MS, autostart: true, wires: [['out']] })),
      ...postgresqlNodes(database, { batchRows: 5000, inFlight: 2 })
    ], { server: { user: database.user, password: database.password } })
    const start = performance.now()
    const memory = { start: gateway.memoryBytes, most: 0, catchingUp: 0 }
    const before = await untilStored(database, count => count > 0)
    await database.stop()
    while (performance.now() - start < seconds * 1000) {
      await sleep(SAMPLE_MS)
      memory.most = Math.max(memory.most, gateway.memoryBytes)
    }
    await database.start()
    const back = performance.now()
    memory.catchingUp = gateway.memoryBytes
    const running = gateway
    await untilStored(database, count => {
      memory.catchingUp = Math.max(memory.catchingUp, running.memoryBytes)
      return count >= produced
    })
    const catchUpSeconds = (performance.now() - back) / 1000
    const [rows, distinct] = [await sumOf(database, 'count(*)'), await sumOf(database, 'count(DISTINCT time_ns)')]
    const megabytes = { start: memory.start / 1e6, most: memory.most / 1e6, catchingUp: memory.catchingUp / 1e6 }
    return { seconds, valuesPerSecond: RATE_HZ * CHANNELS * MACHINES.length, produced, rows, distinct, before, catchUpSeconds, memoryMegabytes: megabytes }
  } catch (error) {
    throw gateway ? new SluiceError('SLUICE_BENCH_OUTAGE', `The gateway said:\n${gateway.output}`, { cause: error }) : error
  } finally {
    await gateway?.stop()
    await database.remove()
    await mosquitto.stop()
    await rm(folder, { recursive: true })
  }
}

/**
 * Waits for enough rows to be stored.
 * @param {import('./pipeline.js').PostgresqlAddress} database
 * @param {(count: number) => boolean} isEnough
 * @returns {Promise<number>} how many there are
 */
async function untilStored (database, isEnough) {
  let last = { rows: -1, atMs: performance.now() }
  for (;;) {
    const rows = await sumOf(database, 'count(*)')
    if (isEnough(rows)) return rows
    if (rows > last.rows) last = { rows, atMs: performance.now() }
    if (performance.now() - last.atMs > STALLED_MS) throw new SluiceError('SLUICE_BENCH_STALLED', `Only ${rows} rows have arrived.`)
    await sleep(SAMPLE_MS)
  }
}

/**
 * Over all the machines' tables there are.
 * @param {import('./pipeline.js').PostgresqlAddress} database
 * @param {'count(*)'|'count(DISTINCT time_ns)'} expression
 */
async function sumOf ({ port, user, password, database }, expression) {
  const client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
  await client.connect()
  try {
    const { rows: tables } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = \'public\' AND tablename = ANY ($1)', [MACHINES])
    let sum = 0
    for (const { tablename } of tables) sum += Number((await client.query(`SELECT ${expression} AS value FROM "${tablename}"`)).rows[0].value)
    return sum
  } finally {
    await client.end()
  }
}
