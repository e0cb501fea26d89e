import { setImmediate as nextTurn } from 'node:timers/promises'
import { SluiceError } from '../../../base/errors.js'
import { formatTime } from '../../../batch/time.js'
import { Client } from './client.js'
import { costsOf } from './costs.js'
import { expectedAt } from './expected.js'
import { PERIOD_NS, samplesAt } from './machine.js'
import { reading } from './variants.js'
import { fill } from './writing.js'

/**
 * One of the readers.
 *
 * @typedef {import('./writer.js').Stored} Stored
 * @typedef {import('./reader.js').Cycle} Cycle
 */

const PROGRAM = new URL('reader.js', import.meta.url)
/** From the ends of what is stored to the first and last times: a cycle and a half has its place there. */
const MARGIN_NS = 600_000_000n
/** Of Figure 3, around the time. */
const SHOWN_SAMPLES = { before: 700, after: 700 }

/**
 * Reads cycles of what the stand holds, which is written first where it holds something else; checks each.
 * @param {string} what  the name by which the stand holds it
 * @param {import('./writing.js').Writing & {strategy: import('./variants.js').Strategy}} reader
 * @param {import('../study.js').CellContext & {stand: import('./stand.js').Stand}} context
 * @returns {Promise<import('../study.js').Measured>}
 */
export async function measureReading (what, { strategy, ...writing }, context) {
  const { stand, signal, progress } = context
  const { database, layout, warmUpSeconds, seconds } = writing
  if (!stand.holding(what)) {
    progress('writing what is read')
    await fill(what, writing, context)
  }
  const { running, stored } = /** @type {NonNullable<ReturnType<typeof stand.holding>>} */ (stand.holding(what))
  const client = new Client(PROGRAM, signal)
  try {
    await client.ask('open', { ...reading(database, layout), ...timesIn(stored), address: running.address, strategy })
    const { lap, usage } = await client.watched(running, { warmUpSeconds, seconds, progress })
    progress('checking')
    const cycles = /** @type {Cycle[]} */ (await client.ask('finish'))
    for (const cycle of cycles) {
      check(cycle, stored)
      await nextTurn()
      signal.throwIfAborted()
    }
    return {
      measures: {
        ...costsOf(usage),
        cycles: cycles.length,
        cyclesPerSecond: lap.cycles / lap.seconds,
        ...lap.cycles > 0 && { cycleMedianMicroseconds: lap.medianMicroseconds, cycleP95Microseconds: lap.p95Microseconds }
      },
      series: shown(cycles, stored),
      version: running.version,
      settings: running.settings,
      notes: usage.notes
    }
  } finally {
    await client.end()
  }
}

/** @param {Stored} stored */
function timesIn ({ startNs, runs }) {
  const [from, to] = [runs[0][0], runs[runs.length - 1][1]].map(sample => startNs + BigInt(sample) * PERIOD_NS)
  return { first: from + MARGIN_NS, last: to - MARGIN_NS, from, to }
}

/** @param {Cycle} cycle @param {Stored} stored @throws {SluiceError} SLUICE_BENCH_READ */
function check ({ at, start, end, sums }, stored) {
  const expected = expectedAt(at, stored)
  const isEqual = expected
    ? start === expected.start && end === expected.end && sums.every((sum, channel) => sum === expected.sums[channel])
    : start === null
  if (isEqual) return
  const text = (/** @type {bigint|null|undefined} */ from, /** @type {bigint|null|undefined} */ to, /** @type {number[]} */ of) => {
    return from == null || to == null ? 'none' : `${formatTime(from)} to ${formatTime(to)} with the sums ${of.join(', ')}`
  }
  const wanted = text(expected?.start, expected?.end, expected?.sums ?? [])
  throw new SluiceError('SLUICE_BENCH_READ', `The cycle around ${formatTime(at)} was read as ${text(start, end, sums)}, and is ${wanted}.`)
}

/**
 * One that was read, with the times by which it was found: Figure 3.
 * @param {Cycle[]} cycles @param {Stored} stored
 * @returns {NonNullable<import('../study.js').Measured['series']>}
 */
function shown (cycles, stored) {
  const found = cycles.find(({ start }) => start !== null)
  const expected = found && expectedAt(found.at, stored)
  if (!expected) return {}
  const index = Number((found.at - stored.startNs) / PERIOD_NS)
  const first = Math.max(0, index - SHOWN_SAMPLES.before)
  const { time, columns: [angle] } = samplesAt(stored.startNs, first, index + SHOWN_SAMPLES.after - first)
  const secondOf = (/** @type {bigint} */ ns) => Number(ns - found.at) / 1e9
  const times = [found.at, ...expected.times]
  return {
    angle: { seconds: Array.from(time, secondOf), values: Array.from(angle, Number) },
    search: { seconds: times.map(secondOf), values: times.map(ns => Number(angle[Number((ns - time[0]) / PERIOD_NS)])) }
  }
}
