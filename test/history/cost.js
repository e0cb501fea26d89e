import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { History } from '../../gateway/history/history.js'
import { Readings } from '../../gateway/history/readings.js'
import { Stats } from '../../gateway/stats/stats.js'
import { batchOf, busy, plant } from './plant.js'

/**
 * `node --expose-gc test/history/cost.js`: what the history costs. Time is made up, so that days take minutes.
 *
 * - what it adds to a batch, with latencies of eight rows;
 * - processor time and memory at 200 sources × 10 sinks: of all threads, less what making up the load takes;
 * - what a day of 20 sources × 2 sinks writes;
 * - what 30 days of 2000 series take, and how long a request over them takes, with the longest wait of others meanwhile.
 */
const STEP_MS = 10_000
const DAY_STEPS = 8640
const folder = await mkdtemp(join(tmpdir(), 'sluice-history-cost-'))
try {
  perBatch()
  await running(200, 10, 2 * 360)
  await written(20, 2)
  await month()
} finally {
  await rm(folder, { recursive: true })
}

function perBatch () {
  const [alone, followed, read] = [new Stats(), new Stats(), new Stats()]
  const readers = [new Readings(followed, () => 0), read.reader()]
  const batch = batchOf(alone.nowNs(), 100)
  const meters = [alone, followed, read].map(stats => stats.meter('sink', 'plant'))
  const best = [Infinity, Infinity, Infinity]
  for (let round = 0; round < 20; round++) {
    for (const [i, meter] of meters.entries()) best[i] = Math.min(best[i], nanosecondsOf(() => meter.record(batch)))
  }
  tell('per batch', `${best[0].toFixed(0)} ns; with the history ${best[1].toFixed(0)} ns, with a reader ${best[2].toFixed(0)} ns`)
  for (const reader of readers) reader.close()
}

/** Of processor time. @param {() => void} work */
function nanosecondsOf (work) {
  const count = 50_000
  const start = process.cpuUsage()
  for (let i = 0; i < count; i++) work()
  return process.cpuUsage(start).user * 1000 / count
}

/** @param {number} sources @param {number} sinks @param {number} steps */
async function running (sources, sinks, steps) {
  const { meters, clock, open } = prepared(sources, sinks)
  const before = bytes()
  const history = open()
  const cpuOf = async (/** @type {() => unknown} */ after) => {
    const { user, system } = process.cpuUsage()
    for (let i = 0; i < steps; i++) {
      clock.ms += STEP_MS
      busy(meters, i)
      await after()
    }
    const now = process.cpuUsage()
    return now.user + now.system - user - system
  }
  await cpuOf(() => history.record())
  const load = await cpuOf(() => {})
  const all = await cpuOf(() => history.record())
  const memory = bytes() - before
  const count = (await history.list()).length
  await history.close()
  const share = (all - load) / (steps * STEP_MS * 1000)
  tell(`${sources} × ${sinks}, ${count} series`, `${(share * 100).toFixed(3)} % of a core, ${(memory / 1e6).toFixed(1)} MB of memory`)
}

function bytes () {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** @param {number} sources @param {number} sinks */
async function written (sources, sinks) {
  const { meters, clock, history } = opened(sources, sinks)
  const days = 2
  for (let i = 0; i < days * DAY_STEPS; i++) {
    clock.ms += STEP_MS
    busy(meters, i)
    await history.record()
  }
  await history.close()
  const { writtenBytes } = await history.usage()
  tell(`${sources} × ${sinks}`, `${(writtenBytes / days / 1e6).toFixed(1)} MB written a day`)
}

async function month () {
  const { meters, clock, history } = opened(115, 5)
  for (let i = 0; i < 31 * DAY_STEPS; i++) {
    clock.ms += STEP_MS
    busy(meters, i)
    await history.record()
  }
  const { bytes: kept } = await history.usage()
  const listed = await history.list()
  tell(`30 days × ${listed.length} series`, `${(kept / 2 ** 20).toFixed(1)} MiB`)
  const keys = listed.filter(({ measure }) => measure === 'latencyP99').slice(0, 20).map(({ key }) => key)
  for (let i = 0; i < 3; i++) {
    const loop = monitorEventLoopDelay({ resolution: 1 })
    loop.enable()
    const startMs = performance.now()
    await history.query({ fromMs: clock.ms - 30 * 86_400_000, toMs: clock.ms, points: 1000 }, keys)
    const tookMs = performance.now() - startMs
    loop.disable()
    tell('20 series over 30 days', `${tookMs.toFixed(0)} ms, others waited ${(loop.max / 1e6 - 1).toFixed(0)} ms at most`)
  }
}

/** @param {number} sources @param {number} sinks */
function opened (sources, sinks) {
  const { open, ...rest } = prepared(sources, sinks)
  return { ...rest, history: open() }
}

/** @param {number} sources @param {number} sinks */
function prepared (sources, sinks) {
  const stats = new Stats()
  const clock = { ms: Date.parse('2026-01-01T00:00:00Z') }
  const now = () => clock.ms
  const open = () => new History({ stats, folder: () => join(folder, `${sources}-${sinks}`), nowMs: now, monotonicMs: now, log: console })
  return { stats, meters: plant(stats, sources, sinks), clock, open }
}

/** @param {string} what @param {string} text */
function tell (what, text) { console.log(`${what.padEnd(28)} ${text}`) }
