import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../base/errors.js'
import { postgresqlNodes, startGateway } from './pipeline.js'
import { openPostgresql } from './postgresql-server.js'

/** Two machine tools of five channels: 100,000 values a second. */
const MACHINES = ['lathe', 'mill']
const CHANNELS = 5
const RATE_HZ = 10_000
const SAMPLE_MS = 100
/** Without a new row for so long, the bench gives up. The sink may wait half a minute before it tries again. */
const STALLED_MS = 90_000
/** The samples are made in real time; a process that was held up makes them later, and all of them. */
const BACKLOG_MS = 60_000
const MACHINE = {
  type: 'sluice-simulator',
  z: 'tab',
  preset: 'machine-tool',
  sampleRateHz: RATE_HZ,
  maxBacklogMs: BACKLOG_MS,
  autostart: true,
  wires: [['out']]
}

/** @typedef {Awaited<ReturnType<typeof openPostgresql>>} Database */

/**
 * @typedef {object} Outage
 * @property {number} seconds
 * @property {number} valuesPerSecond
 * @property {number} produced  rows
 * @property {number} rows  stored
 * @property {number} distinct  of those
 * @property {number} before  rows stored before the outage
 * @property {number} catchUpSeconds
 * @property {{start: number, most: number, catchingUp: number}} memoryMegabytes
 */

/**
 * A gateway that produces 100,000 values a second, stages them over Mosquitto and stores them in PostgreSQL, which goes away for as long as
 * they are produced and then comes back: the most memory that the gateway had, and what is stored in the end.
 * @param {import('./servers.js').Servers} servers  whose PostgreSQL can be stopped
 * @param {{seconds?: number}} [options]  of the outage
 * @returns {Promise<Outage>}
 */
export async function benchOutage (servers, { seconds = 60 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-outage-'))
  const samples = RATE_HZ * seconds
  const produced = samples * MACHINES.length
  // The broker is capped, as in broker/mosquitto.conf: what is over that comes from the spool.
  const mosquitto = await servers('mqtt').start({ folder, conf: [`max_queued_bytes ${2 ** 24}`, 'set_tcp_nodelay true'] })
  const database = await openPostgresql(servers, folder)
  const { server } = database
  /** @type {import('./process.js').WatchedProcess|undefined} */
  let gateway
  try {
    gateway = await startGateway(join(folder, 'gateway'), [
      { id: 'broker', type: 'sluice-broker', url: mosquitto.url, protocolVersion: 'auto', verify: true, keepAliveSeconds: 30 },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'out', broker: 'broker', spoolMegabytes: 8192, wires: [] },
      { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', wires: [['sink']] },
      ...MACHINES.map(name => ({ ...MACHINE, id: name, name, maxSamples: samples })),
      ...postgresqlNodes(server, { batchRows: 5000, inFlight: 2 })
    ], { server: { user: server.user, password: server.password } })
    const start = performance.now()
    const memory = { start: gateway.memoryBytes, most: 0, catchingUp: 0 }
    const before = await untilStored(database, count => count > 0)
    await server.stop?.()
    while (performance.now() - start < seconds * 1000) {
      await sleep(SAMPLE_MS)
      memory.most = Math.max(memory.most, gateway.memoryBytes)
    }
    await server.start?.()
    const back = performance.now()
    memory.catchingUp = gateway.memoryBytes
    const running = gateway
    await untilStored(database, count => {
      memory.catchingUp = Math.max(memory.catchingUp, running.memoryBytes)
      return count >= produced
    })
    const catchUpSeconds = (performance.now() - back) / 1000
    const [rows, distinct] = [await sumOf(database, 'count(*)'), await sumOf(database, 'count(DISTINCT time_ns)')]
    const memoryMegabytes = { start: memory.start / 1e6, most: memory.most / 1e6, catchingUp: memory.catchingUp / 1e6 }
    const valuesPerSecond = RATE_HZ * CHANNELS * MACHINES.length
    return { seconds, valuesPerSecond, produced, rows, distinct, before, catchUpSeconds, memoryMegabytes }
  } catch (error) {
    throw gateway ? new SluiceError('SLUICE_BENCH_OUTAGE', `The gateway printed:\n${gateway.output}`, { cause: error }) : error
  } finally {
    await gateway?.stop()
    await database.remove()
    await mosquitto.remove?.()
    await rm(folder, { recursive: true })
  }
}

/**
 * Waits for enough rows to be stored.
 * @param {Database} database
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
 * @param {Database} database
 * @param {'count(*)'|'count(DISTINCT time_ns)'} expression
 */
async function sumOf ({ query, tables }, expression) {
  let sum = 0
  for (const table of await tables()) {
    if (MACHINES.includes(table)) sum += Number((await query(`SELECT ${expression} AS value FROM "${table}"`)).rows[0].value)
  }
  return sum
}
