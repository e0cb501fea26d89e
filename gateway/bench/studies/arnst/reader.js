import { setTimeout as sleep } from 'node:timers/promises'
import { fractionAt } from '../../../base/random.js'
import { run } from '../../../queries/run.js'
import { Histogram } from '../../../stats/histogram.js'
import { AMPLITUDE } from './machine.js'
import { openReader } from './opened-reader.js'
import { PACE } from './published.js'
import { serve } from './served.js'

/**
 * The reading client: cycles of the machine around random times, by the gateway's query.
 *
 * @typedef {object} Cycle
 * @property {bigint} at  where it was looked for
 * @property {bigint|null} start  null: none was found
 * @property {bigint|null} end
 * @property {number[]} sums  of each channel
 *
 * @typedef {object} Reading
 * @property {import('../../sinks/open.js').SinkAddress} address
 * @property {object} reader  its options
 * @property {string[]} sensors  the first is the angle
 * @property {string} strategy
 * @property {bigint} first  of the times around which cycles are looked for
 * @property {bigint} last
 * @property {bigint} from  what is stored
 * @property {bigint} to
 */

const INTERVAL_MS = 1000 / PACE.cyclesPerSecond
/** Of the times: the same in every variant, as far as the data are. */
const SEED = 1

/** @type {Cycle[]} */
const cycles = []
const times = new Histogram()
/** @type {unknown} */
let failure = null
let isOver = false
let beforeMs = 0
/** @type {Promise<void>} */
let reading = Promise.resolve()
/** @type {Awaited<ReturnType<typeof prepare>>} */
let opened

serve({
  /** @param {Reading} given */
  async open (given) { opened = await prepare(given) },

  begin () { reading = readOn().catch(error => { failure = error }) },

  /** @returns {{seconds: number, cycles: number, medianMicroseconds: number, p95Microseconds: number}} since the one before */
  lap () {
    if (failure) throw failure
    const nowMs = performance.now()
    const latency = { medianMicroseconds: times.at(0.5), p95Microseconds: times.at(0.95) }
    const lap = { seconds: (nowMs - beforeMs) / 1000, cycles: times.total, ...latency }
    beforeMs = nowMs
    times.reset()
    return lap
  },

  /** @returns {Promise<Cycle[]>} all of them */
  async finish () {
    isOver = true
    await reading
    if (failure) throw failure
    await opened.close()
    return cycles
  }
})

/** One after the other: where the database is slow, there are fewer. */
async function readOn () {
  let dueMs = performance.now()
  while (!isOver) {
    const beganMs = performance.now()
    cycles.push(await opened.cycleAt(fractionAt(SEED, cycles.length)))
    const now = performance.now()
    times.record(Math.round((now - beganMs) * 1000))
    dueMs = Math.max(dueMs + INTERVAL_MS, now)
    await sleep(dueMs - now)
  }
}

/** @param {Reading} given */
async function prepare ({ address, reader: options, sensors, strategy, first, last, from, to }) {
  const { reader, close } = await openReader(address, options)
  return {
    close,

    /** @param {number} fraction  of the times @returns {Promise<Cycle>} */
    async cycleAt (fraction) {
      const at = first + BigInt(Math.floor(Number(last - first) * fraction))
      const query = { name: 'cycle', strategy, sensors, angle: sensors[0], amplitude: AMPLITUDE, at, from, to }
      /** @type {any[]} */
      const rows = []
      for await (const page of run(reader, query)) rows.push(...page.rows)
      const sums = sensors.map(sensor => rows.find(row => row.sensor === sensor)?.sum ?? 0)
      return { at, start: rows[0]?.time ?? null, end: rows[0]?.end ?? null, sums }
    }
  }
}
