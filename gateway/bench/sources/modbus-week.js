import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openDevice } from '../../modbus/device.js'
import { openModbusSimulator } from '../../simulators/modbus/simulator.js'
import { openModbusRead } from '../../modbus/source.js'

/**
 * @typedef {object} Week
 * @property {number} polls  that brought values
 * @property {number} rowsEmitted
 * @property {number} rowsBad  of them, with a value missing
 * @property {number} days  that have passed for the sources
 * @property {number} seconds  that it took
 * @property {Record<string, number>} faults  of the simulated device, by kind
 * @property {number} disconnects
 * @property {number[]} heapMegabytes  in use after a collection: at the start and after each `sampleEvery` polls
 */

const SOURCES = 8
const PERIOD_MS = 4000 // with 8 sources, a week has 1.2 million polls
const START_NS = 1_700_000_000_000_000_000n
const NS_PER_DAY = 86_400e9

/** A value of each kind; they take three requests. */
const TAGS = [
  { name: 'parts', area: 'holding-registers', address: '0', type: 'uint16' },
  { name: 'temperature', area: 'holding-registers', address: '2', type: 'float32' },
  { name: 'uptime', area: 'input-registers', address: '2', type: 'uint32' },
  { name: 'running', area: 'coils', address: '0', type: 'bool' }
]

/** What a device does in bad weeks. */
const FAULTS = [
  { fault: 'exception', percent: 0.05, exception: 6 },
  { fault: 'exception', percent: 0.05, exception: 4 },
  { fault: 'wrong-length', percent: 0.02 },
  { fault: 'wrong-transaction', percent: 0.005 },
  { fault: 'silence', percent: 0.005 },
  { fault: 'garbage', percent: 0.005 },
  { fault: 'drop', percent: 0.005 }
]

/**
 * Polls a simulated device that fails now and then, over loopback, many sources over one connection with several requests under way. For
 * the sources time flies: no poll waits for the next to be due.
 * @param {{polls: number, sampleEvery?: number, progress?: (text: string) => void}} options
 * @returns {Promise<Week>}
 */
export async function runWeek ({ polls, sampleEvery = 50_000, progress = () => {} }) {
  const log = { info () {}, warn () {}, error () {} }
  const collect = garbageCollector()
  const simulator = await openModbusSimulator({ port: 0, faults: FAULTS }, { log })
  const device = openDevice(
    {
      connection: 'tcp',
      host: '127.0.0.1',
      port: simulator.port,
      pipeline: SOURCES,
      timeoutMs: 200,
      firstRetryMs: 10,
      longestRetryMs: 100,
      busyRetries: 0
    },
    { log }
  )
  const startMs = performance.now()
  const heapMegabytes = [collect()]
  let rowsEmitted = 0
  let rowsBad = 0
  let sampleAt = sampleEvery
  const { promise: done, resolve, reject } = Promise.withResolvers()
  const clocks = Array.from({ length: SOURCES }, () => flyingClock())
  const sources = clocks.map((clock, i) =>
    openModbusRead(
      { name: `week${i}`, tags: TAGS, groups: [{ name: 'all', periodMs: PERIOD_MS }], batchMs: 60_000 },
      {
        device,
        deviceName: 'week',
        pipeline: 1,
        clock,
        log,
        isPaused: () => false,
        emit (batch) {
          rowsEmitted += batch.rows
          rowsBad += badRows(batch)
          const good = rowsEmitted - rowsBad
          if (good >= sampleAt) {
            sampleAt += sampleEvery
            heapMegabytes.push(collect())
            progress(`${good} polls, ${heapMegabytes.at(-1)?.toFixed(1)} MB`)
          }
          if (good >= polls) resolve(undefined)
        },
        onEnd: error => reject(error ?? new Error('A source ended by itself.'))
      }
    )
  )
  try {
    await done
    return {
      polls: rowsEmitted - rowsBad,
      rowsEmitted,
      rowsBad,
      days: Number(clocks[0].nowNs() - START_NS) / NS_PER_DAY,
      seconds: (performance.now() - startMs) / 1000,
      faults: simulator.counters.faults,
      disconnects: device.health.disconnects,
      heapMegabytes
    }
  } finally {
    for (const source of sources) await source.close()
    await device.close()
    await simulator.close()
  }
}

/** Who sleeps has slept. @returns {import('../../clock/system-clock.js').Clock} */
function flyingClock () {
  let ns = START_NS
  return {
    nowNs: () => ns,
    every: () => () => {},
    async sleep (ms) {
      ns += BigInt(Math.round(ms * 1e6))
      await nextTurn()
    }
  }
}

/** @param {import('../../batch/batch.js').Batch} batch */
function badRows ({ rows, fields, validity }) {
  const column = fields.findIndex(({ name }) => name === 'quality')
  if (column < 0) return 0
  return validity[column]?.reduce((sum, there) => sum + there, 0) ?? rows
}

/** Collects garbage, and returns the megabytes in use. */
function garbageCollector () {
  setFlagsFromString('--expose-gc')
  const gc = /** @type {() => void} */ (runInNewContext('gc'))
  return () => {
    gc()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return (heapUsed + arrayBuffers) / 1e6
  }
}
