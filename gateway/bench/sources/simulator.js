import { systemClock } from '../../clock/system-clock.js'
import { openSimulator } from '../../simulators/simulator.js'
import { Latency } from '../../stats/latency.js'

/**
 * @typedef {object} SimulatorRow  one run
 * @property {string} what
 * @property {boolean} blocked  whether the event loop was kept busy for 20 ms of every 100
 * @property {number} samples  rows made
 * @property {number} wanted  rows that were to be made
 * @property {number} missed  rows
 * @property {number} values
 * @property {number} tickMs  by as much a row may be late because of the tick alone
 * @property {import('../../stats/latency.js').LatencySummary|null} lateness  of the rows: how long after its time each came, in ms
 * @property {number} cpuShare  of one core, without what kept it busy
 */

const TICK_MS = 10
const BUSY_MS = 20
const BUSY_EVERY_MS = 100
/** The rows of a batch are evenly spaced: their lateness is recorded in so many groups. */
const GROUPS = 20

const FIVE_CHANNELS = Array.from({ length: 5 }, (_, index) => ({ name: `channel${index + 1}`, shape: 'sine', noise: 0.1, frequencyHz: 50 }))

/** @type {{what: string, rowsPerSecond: number, machines: number, options: object}[]} */
const CASES = [
  {
    what: '1 kHz × 5 channels',
    rowsPerSecond: 1000,
    machines: 1,
    options: { preset: 'channels', channels: FIVE_CHANNELS, sampleRateHz: 1000 }
  },
  {
    what: '100 kHz × 1 channel',
    rowsPerSecond: 100_000,
    machines: 1,
    options: { preset: 'channels', channels: FIVE_CHANNELS.slice(0, 1), sampleRateHz: 100_000 }
  },
  { what: '10 vehicles × 22 channels at 10 Hz', rowsPerSecond: 10, machines: 10, options: { preset: 'warp10', vehicles: 10 } }
]

/**
 * Simulates in real time, with the event loop free and with it blocked again and again.
 * @param {{seconds?: number}} [options]  of each of the six runs
 * @returns {Promise<SimulatorRow[]>}
 */
export async function benchSimulator ({ seconds = 10 } = {}) {
  const rows = []
  for (const each of CASES) {
    for (const blocked of [false, true]) rows.push(await run(each, blocked, seconds))
  }
  return rows
}

/** @param {typeof CASES[number]} each @param {boolean} blocked @param {number} seconds @returns {Promise<SimulatorRow>} */
async function run ({ what, rowsPerSecond, machines, options }, blocked, seconds) {
  const lateness = new Latency()
  const busy = blocked ? new BusyLoop() : null
  const maxSamples = Math.round(rowsPerSecond * seconds)
  let values = 0
  const startMs = performance.now()
  const startCpuMs = cpuMs()
  const { promise: ended, resolve, reject } = Promise.withResolvers()
  const { counters } = openSimulator({ ...options, tickMs: TICK_MS, maxSamples }, {
    emit (batch) {
      values += batch.values
      recordAges(lateness, batch.time)
    },
    isPaused: () => false,
    log: console,
    onEnd: error => error ? reject(error) : resolve(undefined)
  })
  try {
    await ended
  } finally {
    busy?.stop()
  }
  const wallMs = performance.now() - startMs
  const ownCpuMs = cpuMs() - startCpuMs - (busy?.cpuMs ?? 0)
  const { samples, missed } = counters
  return {
    what,
    blocked,
    samples,
    wanted: maxSamples * machines,
    missed,
    values,
    tickMs: TICK_MS,
    lateness: lateness.summary(),
    cpuShare: ownCpuMs / wallMs
  }
}

/** @param {Latency} lateness @param {BigInt64Array} time */
function recordAges (lateness, time) {
  const nowNs = systemClock.nowNs()
  const step = Math.ceil(time.length / GROUPS)
  for (let row = 0; row < time.length; row += step) {
    const rows = Math.min(step, time.length - row)
    lateness.record(Number(nowNs - time[row + (rows >> 1)]) / 1000, rows)
  }
}

/** Processor time of this process so far. */
function cpuMs () {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Keeps the event loop from running, as a flow's function nodes do. */
class BusyLoop {
  cpuMs = 0
  #timer = setInterval(() => {
    const startCpuMs = cpuMs()
    for (const endMs = performance.now() + BUSY_MS; performance.now() < endMs;);
    this.cpuMs += cpuMs() - startCpuMs
  }, BUSY_EVERY_MS)

  stop () {
    clearInterval(this.#timer)
  }
}
