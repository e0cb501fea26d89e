import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Alarms } from '../../gateway/alarms/alarms.js'
import { KINDS } from '../../gateway/alarms/kinds/index.js'
import { Limits } from '../../gateway/alarms/limits.js'
import { Snapshots } from '../../gateway/alarms/snapshot.js'
import { Batch } from '../../gateway/batch/batch.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { mountLive, unmountLive } from '../../gateway/live/live.js'
import { loadNodeRed } from '../../gateway/run/node-red.js'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { Stats } from '../../gateway/stats/stats.js'

const { express } = loadNodeRed()
const ROWS = 5

/**
 * The live page of a plant that is only counted: each source sends, is staged, and is stored in each sink, once for each `beat`.
 * @param {{sources?: number, sinks?: number, sourceName?: (i: number) => string}} [options]
 */
export async function servePlant ({ sources = 3, sinks = 2, sourceName = i => `machine ${i + 1}` } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-plant-'))
  const stats = new Stats()
  const app = express()
  const server = createServer(app)
  const events = new EventEmitter()
  const RED = { server, httpNode: express.Router(), settings: {}, events, nodes: { getNode: () => null } }
  app.use('/', RED.httpNode)
  mountLive(RED, stats, () => folder)
  const gateway = await gatewayId(folder)
  events.emit('flows:started', {})
  const names = Array.from({ length: sources }, (_, i) => sourceName(i))
  const meters = names.flatMap((name, i) => (/** @type {const} */ (['source', 'stage'])).map(stage => {
    const meter = stats.meter(stage, name)
    if (stage === 'source') meter.running.add(`node-${i}`)
    stats.statuses.set(`node-${i}`, { fill: 'green', shape: 'dot', text: '5 rows/s' })
    return meter
  }))
  /** By sink; a test says what is wrong with one. @type {Record<string, import('../../gateway/stats/reader.js').Gauge>[]} */
  const gauges = []
  const stores = Array.from({ length: sinks }, (_, i) => {
    const gauge = { connected: true, problem: null, lastError: null, pendingRows: 0, retryingSinceMs: null, keptDeadLetters: 0 }
    gauges.push(/** @type {any} */ (gauge))
    stats.gauge(`sink store ${i + 1}`, () => gauge, `sink-${i}`)
    stats.statuses.set(`sink-${i}`, { fill: 'green', shape: 'dot', text: '15 rows/s' })
    return stats.meter('sink', `store ${i + 1}`, `sink-${i}`)
  })
  const broker = 'mqtt://127.0.0.1:1883'
  stats.gauge('spool out', () => {
    return { connected: true, broker, problem: null, onDiskBytes: 5e6, maxBytes: 1e9, unstoredBytes: 2e4, blocked: null }
  }, 'out')
  stats.gauge('stage in in', () => ({ connected: true, broker, problem: null, held: 1, parkedRows: 0, lostRows: 0 }), 'in')
  stats.balances(() => names.flatMap(source => stores.map(({ id, name, rowsBySource }) => {
    const stored = rowsBySource.get(source) ?? 0
    const produced = stats.meter('stage', source).rows
    return { ...emptyBalance(), id, sink: name, gateway, source, produced, stored, inFlight: produced - stored }
  })))
  const judge = () => {
    const clock = { state: /** @type {const} */ ('set'), isWrong: false }
    const snapshots = new Snapshots(stats, new Limits(), { now: () => performance.now(), wallNow: Date.now, clock, blockedMs: () => 0 })
    const kinds = Object.fromEntries(Object.entries(KINDS).map(([kind, its]) => [kind, { ...its, raiseAfterMs: 0, clearAfterMs: 0 }]))
    return new Alarms({ kinds, take: () => snapshots.take() })
  }
  const alarms = stats.alarms = judge()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let beats = 0
  return {
    url: `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/sluice/`,
    stats,
    gauges,
    alarms,
    /** All of them do what they do once; a sink that is away does not. */
    beat () {
      beats++
      for (const [i, name] of names.entries()) {
        const batch = batchOf(name, beats)
        meters[2 * i].record(batch)
        meters[2 * i + 1].record(batch)
        for (const [s, store] of stores.entries()) if (gauges[s].connected) store.record(batch, { bytes: 100 })
      }
    },
    async close () {
      await unmountLive(server)
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    }
  }
}

/** @param {string} source @param {number} beat */
function batchOf (source, beat) {
  const now = BigInt(Date.now()) * 1_000_000n
  return new Batch({
    source,
    time: BigInt64Array.from({ length: ROWS }, (_, i) => now - BigInt(ROWS - 1 - i) * 1_000_000n),
    fields: [{ name: 'temperature', type: 'float64', unit: '°C' }, { name: 'running', type: 'bool' }],
    columns: [Float64Array.from({ length: ROWS }, (_, i) => 20 + Math.sin(beat + i)), new Uint8Array(ROWS).fill(1)]
  })
}
