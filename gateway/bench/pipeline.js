import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../base/errors.js'
import { openPostgresql } from './postgresql-server.js'
import { WatchedProcess } from './process.js'

const SLUICE = fileURLToPath(new URL('../cli/sluice.js', import.meta.url))
/** As `npm start` and the `sluice` command run it. */
const GATEWAY_FLAGS = ['--max-semi-space-size=16', '--heap-growing-percent=40']
const PRODUCER = fileURLToPath(new URL('producer.js', import.meta.url))
const CHANNELS = 5
/** Without a new row for so long, the bench gives up. */
const STALLED_MS = 30_000

/** @typedef {import('./servers.js').Servers} Servers */

/**
 * Simulator → Mosquitto → PostgreSQL: a producing process, a real broker, a real database with its index, and a gateway, Node-RED and all,
 * that consumes. The gateway's memory is given above the same Node-RED with an empty flow, its processor time per value stored.
 * @param {Servers} servers
 * @param {{rows?: number, messageRows?: number, batchRows?: number, rowsPerSecond?: number, index?: string}} [options]  `rowsPerSecond`: 0
 *   is as fast as it goes
 */
export async function benchPipeline (servers, options = {}) {
  const { rows = 2_000_000, messageRows = 1000, batchRows = 20_000, rowsPerSecond = 0, index = 'btree' } = options
  return withServers(servers, async ({ mosquitto, database, folder }) => {
    const idle = await idleGateway(join(folder, 'idle'))
    const gateway = await startGateway(join(folder, 'gateway'), [
      { id: 'broker', type: 'sluice-broker', url: mosquitto.url, protocolVersion: 'auto', verify: true, keepAliveSeconds: 30 },
      { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', wires: [['sink']] },
      ...postgresqlNodes(database.server, { batchRows, inFlight: 3, index })
    ], { server: { user: database.login.user, password: database.login.password } })
    const sizes = [rows, messageRows, rowsPerSecond].map(String)
    const producer = new WatchedProcess([PRODUCER, mosquitto.url, join(folder, 'spool'), ...sizes])
    try {
      await producer.says(/connected/)
      await sleep(3000) // the preflight is over, the subscriptions are made
      const before = { cpu: gateway.cpuSeconds, ms: performance.now() }
      producer.child.kill('SIGUSR2')
      let mostBytes = 0
      for (let stored = 0, at = performance.now(); stored < rows;) {
        await sleep(100)
        mostBytes = Math.max(mostBytes, gateway.memoryBytes)
        const now = await countOf(database)
        if (now > stored) at = performance.now()
        if (performance.now() - at > STALLED_MS) {
          throw new SluiceError('SLUICE_BENCH_STALLED', `Only ${now} of ${rows} rows arrived. The gateway printed:\n${gateway.output}`)
        }
        stored = now
      }
      const seconds = (performance.now() - before.ms) / 1000
      const cpuSeconds = gateway.cpuSeconds - before.cpu
      const values = rows * CHANNELS
      return {
        rows,
        values,
        seconds,
        valuesPerSecond: values / seconds,
        cpuMicrosecondsPerValue: cpuSeconds / values * 1e6,
        memoryAboveIdleMegabytes: (mostBytes - idle.memoryBytes) / 1e6
      }
    } finally {
      await producer.stop()
      await gateway.stop()
    }
  })
}

/**
 * The load of Arnst et al. (5 channels of 1000 samples a second), simulated, staged and stored in one gateway, for some seconds: its share
 * of a core above the same Node-RED idle, and whether its memory grows.
 * @param {Servers} servers
 * @param {{seconds?: number, warmUpSeconds?: number}} [options]  the paper warms up for 5 minutes and measures for 15
 */
export async function benchPaperLoad (servers, { seconds = 30, warmUpSeconds = 60 } = {}) {
  return withServers(servers, async ({ mosquitto, database, folder }) => {
    const idle = await idleGateway(join(folder, 'idle'), seconds / 3)
    const gateway = await startGateway(join(folder, 'gateway'), [
      { id: 'broker', type: 'sluice-broker', url: mosquitto.url, protocolVersion: 'auto', verify: true, keepAliveSeconds: 30 },
      {
        id: 'machine', type: 'sluice-simulator', z: 'tab', name: 'machine', preset: 'machine-tool', sampleRateHz: 1000, autostart: true,
        wires: [['out']]
      },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'out', broker: 'broker', wires: [] },
      { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', wires: [['sink']] },
      ...postgresqlNodes(database.server, { batchRows: 5000, inFlight: 2 })
    ], { server: { user: database.login.user, password: database.login.password } })
    try {
      await sleep(warmUpSeconds * 1000)
      const before = { cpu: gateway.cpuSeconds, ms: performance.now(), bytes: gateway.memoryBytes }
      await sleep(seconds * 1000)
      const share = (gateway.cpuSeconds - before.cpu) / ((performance.now() - before.ms) / 1000)
      return {
        seconds,
        warmUpSeconds,
        percentOfCore: share * 100,
        percentOfCoreIdle: idle.share * 100,
        percentOfCoreAboveIdle: (share - idle.share) * 100,
        memoryMegabytes: { idle: idle.memoryBytes / 1e6, start: before.bytes / 1e6, end: gateway.memoryBytes / 1e6 }
      }
    } finally {
      await gateway.stop()
    }
  })
}

/** @param {import('./servers.js').Server} server @param {object} options */
export function postgresqlNodes ({ host, port, database }, options) {
  const sink = { id: 'sink', type: 'sluice-postgresql', z: 'tab', name: 'sink', server: 'server', table: '{source}', index: 'btree' }
  return [
    { id: 'server', type: 'sluice-postgresql-server', host, port, database },
    { ...sink, maxAgeMs: 1000, ...options, wires: [] }
  ]
}

/** @param {string} userDir @param {number} [seconds] */
export async function idleGateway (userDir, seconds = 3) {
  const gateway = await startGateway(userDir, [])
  try {
    await sleep(3000)
    const before = { cpu: gateway.cpuSeconds, ms: performance.now() }
    await sleep(seconds * 1000)
    return { memoryBytes: gateway.memoryBytes, share: (gateway.cpuSeconds - before.cpu) / ((performance.now() - before.ms) / 1000) }
  } finally {
    await gateway.stop()
  }
}

/**
 * @param {string} userDir
 * @param {object[]} nodes
 * @param {Record<string, object>} [credentials]  by node id
 */
export async function startGateway (userDir, nodes, credentials = {}) {
  await mkdir(userDir, { recursive: true })
  const flows = join(userDir, 'flows.json')
  await writeFile(flows, '[]')
  const { gateway, url } = await restartGateway(userDir)
  if (nodes.length > 0) await deploy(url, nodes, { credentials })
  return gateway
}

/**
 * @param {string} url  of a gateway
 * @param {object[]} nodes
 * @param {{credentials?: Record<string, object>, isChange?: boolean}} [options]  `isChange`: nodes that are as before go on
 */
export async function deploy (url, nodes, { credentials = {}, isChange = false } = {}) {
  const complete = nodes.map((node, i) => ({
    ...node,
    ...'z' in node && { x: 100 + 200 * i, y: 100 },
    ...'id' in node && { credentials: credentials[String(node.id)] }
  }))
  const answer = await fetch(`${url}flows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'Node-RED-Deployment-Type': isChange ? 'nodes' : 'full' },
    body: JSON.stringify([{ id: 'tab', type: 'tab', label: 'bench' }, ...complete])
  })
  if (!answer.ok) throw new Error(`The flow was not deployed: ${answer.status} ${await answer.text()}`)
}

/** Again, with what is deployed there. @param {string} userDir */
export async function restartGateway (userDir) {
  const flows = join(userDir, 'flows.json')
  const gateway = new WatchedProcess([...GATEWAY_FLAGS, SLUICE, 'start', '--flows', flows, '--user-dir', userDir, '--port', '0'])
  const [, url] = await gateway.says(/Editor +(http:\S+)[^]*Ctrl-C/)
  return { gateway, url }
}

/** @param {Awaited<ReturnType<typeof startGateway>>} gateway */
export function urlOf ({ output }) {
  return /** @type {RegExpExecArray} */ (/Editor +(http:\S+)/.exec(output))[1]
}

/** By its sink, as its meter counts. @param {Awaited<ReturnType<typeof startGateway>>} gateway @returns {Promise<number>} */
export async function rowsStored (gateway) {
  const { meters } = await (await fetch(`${urlOf(gateway)}sluice/metrics`, { headers: { accept: 'application/json' } })).json()
  return meters.find((/** @type {{stage: string}} */ { stage }) => stage === 'sink')?.rows ?? 0
}

/** @param {Awaited<ReturnType<typeof openPostgresql>>} database */
async function countOf ({ query }) {
  const { rows: [{ inserted }] } = await query('SELECT sum(n_tup_ins) AS inserted FROM pg_stat_user_tables WHERE relname = \'machine\'')
  if (!(Number(inserted) > 0)) return 0
  const { rows: [{ count }] } = await query('SELECT count(*) AS count FROM machine')
  return Number(count)
}

/**
 * @template T
 * @param {Servers} servers
 * @param {(started: {mosquitto: import('./servers.js').Server, database: Awaited<ReturnType<typeof openPostgresql>>, folder: string}) =>
 *   Promise<T>} run
 */
async function withServers (servers, run) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  const mosquitto = await servers('mqtt').start({ folder, conf: ['max_inflight_messages 0', 'set_tcp_nodelay true'] })
  const database = await openPostgresql(servers, folder)
  try {
    return await run({ mosquitto, database, folder })
  } finally {
    await database.remove()
    await mosquitto.remove?.()
    await rm(folder, { recursive: true })
  }
}
