import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../base/errors.js'
import { postgresqlNodes, startGateway } from './pipeline.js'
import { openPostgresql } from './postgresql-server.js'
import { WatchedProcess } from './process.js'

const PRODUCERS = fileURLToPath(new URL('scale-producers.js', import.meta.url))
const PRODUCER_PROCESSES = 2
const SAMPLE_MS = 1000
const TELL_SECONDS = 10
/** Without a new row for so long after the end, the bench gives up. */
const STALLED_MS = 60_000
const TABLE = 'telemetry'

/**
 * What the gateways stage in: its server, and the config node and the reader of a member.
 *
 * @typedef {object} StagedIn
 * @property {string} server
 * @property {string[]} [conf]
 * @property {(server: import('./servers.js').Server) => object} node
 * @property {(member: number, members: number) => object} reader
 *
 * @typedef {object} Scale
 * @property {keyof typeof STAGED_IN} via
 * @property {number} gateways
 * @property {number} devices
 * @property {number} members
 * @property {number} seconds
 * @property {number} produced  rows
 * @property {number} rows  stored
 * @property {number} distinct  of those
 * @property {number} lagSeconds  at most: rows that are produced and not yet stored, at the rate at which they are
 * @property {number} settledSeconds  from the last row's being produced to its being stored
 * @property {number} connections  to the database, at most
 * @property {{cpuShare: number, memoryMegabytes: number}[]} consumers  share of a core, and resident memory at most
 */

/** @satisfies {Record<string, StagedIn>} */
const STAGED_IN = {
  mqtt: {
    server: 'mqtt',
    conf: [`max_queued_bytes ${2 ** 24}`, 'set_tcp_nodelay true'],
    node: ({ url }) => ({ type: 'sluice-broker', url, protocolVersion: 'auto', verify: true, keepAliveSeconds: 30 }),
    reader: (member, members) => ({ broker: 'broker', member, members })
  },
  kafka: {
    server: 'kafka',
    node: ({ host, port }) => ({ type: 'sluice-kafka-server', host, port }),
    reader: () => ({ via: 'kafka', kafka: 'broker' })
  }
}

/** @typedef {Record<'gateways'|'devices'|'members'|'seconds', number>} Size */

/**
 * A plant: gateways with devices, one row a second of each, over one Mosquitto or Kafka into one PostgreSQL by the members of a consumer
 * group.
 * @param {import('./servers.js').Servers} servers
 * @param {Partial<Size> & {via?: keyof typeof STAGED_IN, progress?: (text: string) => void}} [options]
 * @returns {Promise<Scale>}
 */
export async function benchScale (servers, options = {}) {
  const { via = 'mqtt', gateways = 200, devices = 50, members = 2, seconds = 600, progress = () => {} } = options
  const folder = await mkdtemp(join(tmpdir(), 'sluice-scale-'))
  /** @type {StagedIn} */
  const stagedIn = STAGED_IN[via]
  const broker = await servers(stagedIn.server).start({ folder, conf: stagedIn.conf })
  const database = await openPostgresql(servers, folder)
  const ours = await connectionsOf(database)
  /** @type {WatchedProcess[]} */
  const running = []
  try {
    const consumers = []
    for (let member = 1; member <= members; member++) {
      const nodes = [
        { id: 'broker', ...stagedIn.node(broker) },
        { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', group: 'plant', wires: [['sink']], ...stagedIn.reader(member, members) }
      ]
      consumers.push(await startMember(join(folder, `member-${member}`), nodes, database))
      running.push(consumers[member - 1])
    }
    const share = gateways / PRODUCER_PROCESSES
    const producers = Array.from({ length: PRODUCER_PROCESSES }, (_, i) => {
      return new WatchedProcess([PRODUCERS, broker.url, join(folder, 'producers'), ...[i * share, share, devices, seconds].map(String)])
    })
    running.push(...producers)
    for (const producer of producers) await producer.says(/connected/, 300_000)
    await sleep(3000) // the lists of sinks and the heads have been heard

    const rate = gateways * devices
    const produced = rate * seconds
    const before = consumers.map(({ cpuSeconds }) => cpuSeconds)
    const memory = consumers.map(({ memoryBytes }) => memoryBytes)
    const begun = performance.now()
    const elapsed = () => (performance.now() - begun) / 1000
    for (const { child } of producers) child.kill('SIGUSR2')
    let lagSeconds = 0
    let connections = 0
    let toldSeconds = 0
    while (elapsed() < seconds) {
      await sleep(SAMPLE_MS)
      for (const [i, { memoryBytes }] of consumers.entries()) memory[i] = Math.max(memory[i], memoryBytes)
      connections = Math.max(connections, await connectionsOf(database) - ours)
      const at = Math.min(elapsed(), seconds)
      const lag = at - await insertedIn(database) / rate
      lagSeconds = Math.max(lagSeconds, lag)
      if (elapsed() - toldSeconds < TELL_SECONDS) continue
      toldSeconds = elapsed()
      const [used, simulating] = [consumers, producers].map(all => all.map(({ cpuSeconds }) => cpuSeconds.toFixed(0)).join(', '))
      progress(`${at.toFixed(0)} of ${seconds} s, ${lag.toFixed(1)} s behind; processor seconds: members ${used}, simulation ${simulating}`)
    }
    const cpuShares = consumers.map(({ cpuSeconds }, i) => (cpuSeconds - before[i]) / elapsed())
    await Promise.all(producers.map(producer => producer.says(/produced/, STALLED_MS + 1000 * seconds)))
    const last = performance.now()
    const rows = await untilStored(database, produced)
    const settledSeconds = (performance.now() - last) / 1000
    return {
      via,
      gateways,
      devices,
      members,
      seconds,
      produced,
      rows,
      distinct: await countOf(database, 'count(DISTINCT (device, time_ns))'),
      lagSeconds,
      settledSeconds,
      connections,
      consumers: cpuShares.map((cpuShare, i) => ({ cpuShare, memoryMegabytes: memory[i] / 1e6 }))
    }
  } catch (error) {
    const outputs = running.map(({ output }) => output.slice(-2000)).join('\n')
    throw new SluiceError('SLUICE_BENCH_SCALE', `The processes printed:\n${outputs}`, { cause: error })
  } finally {
    await Promise.all(running.map(each => each.stop()))
    await database.remove()
    await broker.remove?.()
    await rm(folder, { recursive: true })
  }
}

/** @typedef {Awaited<ReturnType<typeof openPostgresql>>} Database */

/** @param {string} userDir @param {object[]} nodes  what is before the sink @param {Database} database */
function startMember (userDir, nodes, { server, login }) {
  return startGateway(userDir, [
    ...nodes,
    ...postgresqlNodes(server, { batchRows: 20_000, inFlight: 2 })
  ], { server: { user: login.user, password: login.password } })
}

/** @param {Database} database */
async function connectionsOf ({ query }) {
  const { rows: [{ count }] } = await query('SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database()')
  return Number(count)
}

/** Without counting them, which takes longer the more there are. @param {Database} database */
async function insertedIn ({ query }) {
  const { rows: [{ inserted }] } = await query('SELECT sum(n_tup_ins) AS inserted FROM pg_stat_user_tables WHERE relname = $1', [TABLE])
  return Number(inserted ?? 0)
}

/** @param {Database} database @param {string} expression */
async function countOf ({ query, tables }, expression) {
  if (!(await tables()).includes(TABLE)) return 0
  return Number((await query(`SELECT ${expression} AS value FROM ${TABLE}`)).rows[0].value)
}

/** @param {Database} database @param {number} rows @returns {Promise<number>} how many there are, also when no more come */
async function untilStored (database, rows) {
  let last = { count: -1, atMs: performance.now() }
  for (;;) {
    const count = await countOf(database, 'count(*)')
    if (count > last.count) last = { count, atMs: performance.now() }
    if (count >= rows || performance.now() - last.atMs > STALLED_MS) return count
    await sleep(SAMPLE_MS)
  }
}
