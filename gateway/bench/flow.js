import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../base/errors.js'
import { freePort } from './free-port.js'
import { postgresqlNodes, startGateway } from './pipeline.js'
import { openPostgresql } from './postgresql-server.js'

const DEVICES = 1000
const RATE_HZ = 10_000
const WARM_UP_SECONDS = 10
const POLL_MS = 50
/** Without a new row for so long, the bench gives up. */
const STALLED_MS = 60_000

/**
 * @typedef {import('./servers.js').Servers} Servers
 * @typedef {{nodes: object[], credentials?: Record<string, object>, count: () => Promise<Stored>}} Store  what is behind stage in
 * @typedef {{rows: number, distinct: number}} Stored
 *
 * @typedef {object} FlowRun
 * @property {number} rows  produced
 * @property {Stored} [stored]
 * @property {number} cpuMicrosecondsPerRow  of the whole gateway, Node-RED and the function node that produces them
 * @property {number} [bytesPerRow]  in the spool
 * @property {number} [lagSeconds]  from the last row to its commit
 * @property {{start: number, end: number, most: number}} memoryMegabytes  after the warm-up, at the end, at most
 */

/**
 * Small messages of many devices in a flow: a function node sends 10,000 a second, of one row with two numbers each, through stage out, the
 * embedded broker and stage in into a database; and the same function node into one that only counts.
 * @param {Servers} servers
 * @param {{seconds?: number, progress?: (text: string) => void}} [options]  how long is measured
 */
export async function benchFlow (servers, { seconds = 30, progress = () => {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-flow-'))
  const database = servers('postgresql').missing() ? null : await openPostgresql(servers, folder)
  /** @param {string} name @param {boolean} isTagged @param {Store} [store] */
  const run = async (name, isTagged, store) => {
    progress(name)
    return measure(join(folder, name), { seconds, isTagged, store })
  }
  try {
    return {
      seconds,
      counted: await run('counted', true),
      sqlite: await run('sqlite', true, sqliteAt(join(folder, 'tagged.sqlite'))),
      postgresql: database && await run('postgresql', true, postgresqlOf(database)),
      sources: await run('sources', false, sqliteAt(join(folder, 'sources.sqlite')))
    }
  } finally {
    await database?.remove()
    await rm(folder, { recursive: true })
  }
}

/**
 * @param {string} folder
 * @param {{seconds: number, isTagged: boolean, store?: Store}} options  `isTagged`: the device is a tag of one source, else a source
 * @returns {Promise<FlowRun>}
 */
async function measure (folder, { seconds, isTagged, store }) {
  const rows = RATE_HZ * (WARM_UP_SECONDS + seconds)
  const port = await freePort()
  const counter = { id: 'out', type: 'function', z: 'tab', func: 'context.count = (context.count ?? 0) + 1\nreturn null', wires: [[]] }
  const staging = [
    { id: 'embedded', type: 'sluice-embedded-broker', z: 'tab', port, wires: [] },
    { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
    {
      id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'out', broker: 'broker', maxSources: DEVICES, wires: [],
      mappings: isTagged ? [{ topic: 'plant/{source}/{device}' }] : []
    },
    { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', wires: [['sink']] }
  ]
  const behind = store ? [...staging, ...store.nodes] : [counter]
  const gateway = await startGateway(folder, [producer(rows, isTagged), ...behind], store?.credentials)
  const spool = new SpoolFiles(join(folder, 'sluice', 'spool', 'out'))
  try {
    const startMs = performance.now()
    const memory = { start: 0, end: 0, most: 0 }
    const watch = async (/** @type {number} */ untilSeconds) => {
      while (performance.now() - startMs < untilSeconds * 1000) {
        await sleep(POLL_MS)
        spool.look()
        memory.most = Math.max(memory.most, gateway.memoryBytes)
      }
    }
    await watch(WARM_UP_SECONDS)
    const before = { cpu: gateway.cpuSeconds, rows: store ? (await store.count()).rows : RATE_HZ * WARM_UP_SECONDS }
    memory.start = gateway.memoryBytes
    await watch(WARM_UP_SECONDS + seconds)
    memory.end = gateway.memoryBytes
    const stored = store && await untilStored(store, rows, gateway)
    spool.look()
    const cpuSeconds = gateway.cpuSeconds - before.cpu
    const lagSeconds = (performance.now() - startMs) / 1000 - WARM_UP_SECONDS - seconds
    return {
      rows,
      cpuMicrosecondsPerRow: cpuSeconds / (rows - before.rows) * 1e6,
      ...stored && { stored, lagSeconds, bytesPerRow: spool.bytes / rows },
      memoryMegabytes: { start: memory.start / 1e6, end: memory.end / 1e6, most: memory.most / 1e6 }
    }
  } finally {
    await gateway.stop()
  }
}

/** A function node that sends so many messages a second, from when it is deployed. @param {number} rows @param {boolean} isTagged */
function producer (rows, isTagged) {
  const initialize = `
    const topics = Array.from({ length: ${DEVICES} }, (_, i) => '${isTagged ? 'plant/press/' : ''}device-' + String(i).padStart(4, '0'))
    const start = Date.now()
    let sent = 0
    context.timer = setInterval(() => {
      const due = Math.min(${rows}, (Date.now() - start) * ${RATE_HZ / 1000})
      for (; sent < due; sent++) {
        node.send({ topic: topics[sent % ${DEVICES}], payload: { n: sent, temperature: 20 + Math.sin(sent) } })
      }
    }, 10)`
  const finalize = 'clearInterval(context.timer)'
  return { id: 'producer', type: 'function', z: 'tab', initialize, func: 'return null', finalize, wires: [['out']] }
}

/** @param {string} file @returns {Store} */
function sqliteAt (file) {
  return {
    nodes: [{ id: 'sink', type: 'sluice-sqlite', z: 'tab', name: 'sink', file, table: '{source}', wires: [] }],
    async count () {
      if (!existsSync(file)) return { rows: 0, distinct: 0 }
      const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
      try {
        const names = database.prepare('SELECT name FROM sqlite_schema WHERE type = \'table\' AND name NOT LIKE \'sluice%\'').all()
        return sumOf(names.map(({ name }) => {
          return /** @type {any} */ (database.prepare(`SELECT count(*) AS rows, count(DISTINCT n) AS "distinct" FROM "${name}"`).get())
        }))
      } finally {
        database.close()
      }
    }
  }
}

/** @param {Awaited<ReturnType<typeof openPostgresql>>} database @returns {Store} */
function postgresqlOf ({ server, login: { user, password }, query, tables }) {
  return {
    nodes: postgresqlNodes(server, {}),
    credentials: { server: { user, password } },
    async count () {
      if (!(await tables()).includes('press')) return { rows: 0, distinct: 0 }
      return sumOf((await query('SELECT count(*) AS rows, count(DISTINCT n) AS distinct FROM press')).rows)
    }
  }
}

/** @param {{rows: unknown, distinct: unknown}[]} counts @returns {Stored} */
function sumOf (counts) {
  const sum = (/** @type {'rows'|'distinct'} */ name) => counts.reduce((total, count) => total + Number(count[name]), 0)
  return { rows: sum('rows'), distinct: sum('distinct') }
}

/** @param {Store} store @param {number} rows @param {import('./process.js').WatchedProcess} gateway @returns {Promise<Stored>} */
async function untilStored (store, rows, gateway) {
  for (let last = -1, atMs = performance.now(); ;) {
    await sleep(POLL_MS)
    const stored = await store.count()
    if (stored.rows >= rows) return stored
    if (stored.rows > last) [last, atMs] = [stored.rows, performance.now()]
    if (performance.now() - atMs > STALLED_MS) {
      throw new SluiceError('SLUICE_BENCH_STALLED', `Only ${stored.rows} of ${rows} rows arrived. The gateway printed:\n${gateway.output}`)
    }
  }
}

/** Everything that is written to a spool's files, of which those that are stored are removed. */
class SpoolFiles {
  /** @type {Map<string, number>} */
  #sizes = new Map()

  /** @param {string} folder */
  constructor (folder) {
    this.folder = folder
  }

  get bytes () { return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0) }

  look () {
    if (!existsSync(this.folder)) return
    for (const name of readdirSync(this.folder)) {
      if (!name.endsWith('.segment')) continue
      const size = statSync(join(this.folder, name), { throwIfNoEntry: false })?.size ?? 0
      this.#sizes.set(name, Math.max(size, this.#sizes.get(name) ?? 0))
    }
  }
}

/** @param {Awaited<ReturnType<typeof benchFlow>>} result @returns {import('./sections.js').Table} */
export function flowTable ({ counted, sqlite, postgresql, sources }) {
  return [
    ['10,000 messages/s of 1000 devices into a counting function node', `${counted.cpuMicrosecondsPerRow.toFixed(1)} µs/row`, '', null],
    ...linesOf('SQLite, the device a tag', sqlite, counted, 25, 48),
    ...postgresql ? linesOf('PostgreSQL, the device a tag', postgresql, counted, 25, 48) : [],
    ...linesOf('SQLite, a source a device', sources, counted, 150)
  ]
}

/**
 * @param {string} what @param {FlowRun} run @param {FlowRun} counted
 * @param {number} maxMicroseconds  a row @param {number} [maxBytes]  a row
 * @returns {import('./sections.js').Table}
 */
function linesOf (what, run, counted, maxMicroseconds, maxBytes) {
  const { rows, stored, bytesPerRow = 0, lagSeconds = 0, memoryMegabytes: { start, end, most } } = run
  const above = run.cpuMicrosecondsPerRow - counted.cpuMicrosecondsPerRow
  const isStored = stored?.rows === rows && stored.distinct === rows
  return [
    [`${what}: processor time above that`, `${above.toFixed(1)} µs/row`, `≤ ${maxMicroseconds}`, above <= maxMicroseconds],
    ['… rows produced, stored, different ones', `${rows}, ${stored?.rows}, ${stored?.distinct}`, 'equal', isStored],
    ['… in the spool', `${bytesPerRow.toFixed(1)} bytes/row`, maxBytes ? `≤ ${maxBytes}` : '', maxBytes ? bytesPerRow <= maxBytes : null],
    ['… the last row is stored after', `${lagSeconds.toFixed(1)} s`, '', null],
    ['… memory after the warm-up, at the end, at most', `${start.toFixed(0)}, ${end.toFixed(0)}, ${most.toFixed(0)} MB`, 'flat', null]
  ]
}
