import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'
import { SluiceError } from '../base/errors.js'
import { freePort } from './free-port.js'
import { latencyOf, watchStream } from './live-stream.js'
import { rowsStored, startGateway, urlOf } from './pipeline.js'

/** Half of the quiet sources are messages of a flow, half are topics of other programs. */
const QUIET_SOURCES = 1000
const STALLED_MS = 120_000

/**
 * What gateways cost that have little to do, each above an idle Node-RED of the same version and settings: all run at once, and are watched
 * in the same rounds, so that what else the machine does meets all alike.
 *
 * - `idle`: broker, stage out, stage in and SQLite, and nothing that sends;
 * - `load`: five channels of 1000 samples a second, simulated, through them;
 * - `quiet`: a thousand sources, each of which has sent once.
 * @param {{rounds?: number, seconds?: number, warmUpSeconds?: number, progress?: (text: string) => void}} [options]
 */
export async function benchIdle ({ rounds = 5, seconds = 60, warmUpSeconds = 60, progress = () => {} } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  /** @type {Record<string, Awaited<ReturnType<typeof startGateway>>>} */
  const gateways = {}
  try {
    const quietPort = await freePort()
    gateways.nodeRed = await startGateway(join(folder, 'nodeRed'), [])
    gateways.idle = await startGateway(join(folder, 'idle'), path(await freePort()))
    gateways.load = await startGateway(join(folder, 'load'), [...path(await freePort()), machine()])
    gateways.quiet = await startGateway(join(folder, 'quiet'), [...path(quietPort, ['quiet/#']), ...oneMessageEach()])
    await sendOnce(quietPort)
    await allStored(gateways.quiet)
    progress(`${warmUpSeconds} s to warm up, ${rounds} times ${seconds} s`)
    await sleep(warmUpSeconds * 1000)
    /** @type {Record<string, number>[]} */
    const shares = []
    while (shares.length < rounds) {
      shares.push(await sharesOf(gateways, seconds))
      progress(Object.entries(shares[shares.length - 1]).map(([name, share]) => `${name} ${(share * 100).toFixed(2)} %`).join(', '))
    }
    const above = (/** @type {string} */ name) => median(shares.map(round => round[name] - round.nodeRed)) * 100
    return {
      rounds,
      seconds,
      quietSources: QUIET_SOURCES,
      percentOfCore: Object.fromEntries(Object.keys(gateways).map(name => [name, median(shares.map(round => round[name])) * 100])),
      percentOfCoreAboveIdle: { idle: above('idle'), load: above('load'), quiet: above('quiet') },
      loadLatencyMs: await latencyAfter(gateways.load, seconds)
    }
  } finally {
    await Promise.all(Object.values(gateways).map(gateway => gateway.stop()))
    await rm(folder, { recursive: true })
  }
}

/** @param {number} port  of the broker @param {string[]} [foreignTopics] */
function path (port, foreignTopics = []) {
  return [
    { id: 'embedded', type: 'sluice-embedded-broker', z: 'tab', port },
    { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
    { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'out', broker: 'broker', maxSources: 1000, wires: [] },
    { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', foreignTopics, maxSources: 1000, wires: [['sink']] },
    { id: 'sink', type: 'sluice-sqlite', z: 'tab', name: 'sink', wires: [] }
  ]
}

function machine () {
  return {
    id: 'machine', type: 'sluice-simulator', z: 'tab', name: 'machine', preset: 'machine-tool', sampleRateHz: 1000, autostart: true,
    wires: [['out']]
  }
}

function oneMessageEach () {
  const func = `for (let i = 0; i < ${QUIET_SOURCES / 2}; i++) node.send({ topic: 'silent' + i, payload: { value: i } })`
  return [
    { id: 'once', type: 'inject', z: 'tab', once: true, onceDelay: 1, props: [], wires: [['each']] },
    { id: 'each', type: 'function', z: 'tab', func, outputs: 1, wires: [['out']] }
  ]
}

/** @param {number} port */
async function sendOnce (port) {
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`)
  await sleep(5000) // stage in has subscribed
  for (let i = 0; i < QUIET_SOURCES / 2; i++) await client.publishAsync(`quiet/${i}`, JSON.stringify({ value: i }), { qos: 1 })
  await client.endAsync()
}

/** @param {Awaited<ReturnType<typeof startGateway>>} gateway */
async function allStored (gateway) {
  for (let rows = 0, waitedMs = 0; rows < QUIET_SOURCES; waitedMs += 500) {
    await sleep(500)
    rows = await rowsStored(gateway)
    if (waitedMs < STALLED_MS) continue
    throw new SluiceError('SLUICE_BENCH_STALLED', `Only ${rows} of ${QUIET_SOURCES} rows arrived. The gateway printed:\n${gateway.output}`)
  }
}

/**
 * From sample to commit, for some seconds after what is measured: to look costs something.
 * @param {Awaited<ReturnType<typeof startGateway>>} gateway
 * @param {number} seconds
 * @returns {Promise<{p50: number, p99: number}>}
 */
async function latencyAfter (gateway, seconds) {
  const stream = await watchStream(urlOf(gateway))
  await sleep(seconds * 1000)
  stream.close()
  return latencyOf(stream.reports)
}

/**
 * Processor time of each process over the same time, as a share of a core.
 * @param {Record<string, import('./process.js').WatchedProcess>} processes
 * @param {number} seconds
 */
async function sharesOf (processes, seconds) {
  const read = () => Object.entries(processes).map(([name, process]) => ({ name, cpu: process.cpuSeconds, ms: performance.now() }))
  const before = read()
  await sleep(seconds * 1000)
  return Object.fromEntries(read().map(({ name, cpu, ms }, i) => [name, (cpu - before[i].cpu) / (ms - before[i].ms) * 1000]))
}

/** @param {number[]} numbers */
function median (numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
