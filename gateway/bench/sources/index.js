import { quantity } from '../../stats/format.js'
import { benchCan, benchPlayback } from './can.js'
import { benchModbus } from './modbus.js'
import { runWeek } from './modbus-week.js'
import { benchSimulator } from './simulator.js'

/**
 * Sources: what they can take in, beside what there is to take in.
 *
 * @typedef {import('../sections.js').Table} Table
 */

const GOAL_MODBUS_RATIO = 0.8
const GOAL_SIGNALS = 1_000_000
const POLLS_OF_A_WEEK = 1_209_600 // as many as the eight sources do in one, every 4 s

/** @param {{quick: boolean, progress: (text: string) => void}} options */
export async function benchSources ({ quick, progress }) {
  const modbus = await benchModbus({ seconds: quick ? 1 : 3, progress })
  progress('CAN')
  const can = await benchCan({ seconds: quick ? 1 : 5 })
  const playback = await benchPlayback({ seconds: quick ? 1 : 5 })
  progress('simulator')
  const simulator = await benchSimulator({ seconds: quick ? 3 : 20 })
  const week = await runWeek({ polls: quick ? POLLS_OF_A_WEEK / 10 : POLLS_OF_A_WEEK, progress })
  return { modbus, can, playback, simulator, week }
}

/** @param {Awaited<ReturnType<typeof benchSources>>} measured @returns {Table} */
export function sourcesTable ({ modbus, can, playback, simulator, week }) {
  return [
    ...modbus.flatMap(modbusRows),
    ...can.flatMap(canRows),
    playbackRow(playback),
    ...simulator.flatMap(simulatorRows),
    ...weekRows(week)
  ]
}

/** @param {Awaited<ReturnType<typeof benchModbus>>[number]} measured @returns {Table} */
function modbusRows ({ pipeline, ours, library, ratio }) {
  const atATime = `${pipeline} request${pipeline === 1 ? '' : 's'} at a time`
  /** @type {Table[number]} */
  const own = [`modbus read over loopback, float32 values, ${atATime}`, `${quantity(ours)} registers/s`, '', null]
  if (library === 0) return [own]
  return [
    own,
    [`modbus-serial in its tightest loop, ${atATime}`, `${quantity(library)} registers/s`, '', null],
    ['ratio', ratio.toFixed(2), `≥ ${GOAL_MODBUS_RATIO}`, ratio >= GOAL_MODBUS_RATIO]
  ]
}

/** @param {import('./can.js').CanRow} measured @returns {Table} */
function canRows ({ what, framesPerSecond, signalsPerSecond, decodeOnlySignalsPerSecond }) {
  return [
    [
      `CAN, ${what}: lines of candump → frames → DBC → batches`,
      `${quantity(signalsPerSecond)} signals/s`,
      ...signalsGoal(signalsPerSecond)
    ],
    [
      '   frames read in that; and signals from frames in memory',
      `${quantity(framesPerSecond)} frames/s; ${quantity(decodeOnlySignalsPerSecond)} signals/s`,
      '',
      null
    ]
  ]
}

/** @param {Awaited<ReturnType<typeof benchPlayback>>} measured @returns {Table[number]} */
function playbackRow ({ framesPerSecond, signalsPerSecond }) {
  const rates = `${quantity(signalsPerSecond)} signals/s of ${quantity(framesPerSecond)} frames/s`
  return ['the real log by candump player, as fast as it can', rates, ...signalsGoal(signalsPerSecond)]
}

/** @param {number} signalsPerSecond @returns {[string, boolean]} */
function signalsGoal (signalsPerSecond) {
  return [`≥ ${quantity(GOAL_SIGNALS).trim()}`, signalsPerSecond >= GOAL_SIGNALS]
}

/** @param {Awaited<ReturnType<typeof benchSimulator>>[number]} measured @returns {Table} */
function simulatorRows ({ what, blocked, samples, wanted, missed, lateness, cpuShare, tickMs }) {
  const how = blocked ? ', event loop blocked 20 ms in every 100' : ''
  const late = lateness ? `${lateness.p50.toFixed(1)}, ${lateness.p99.toFixed(1)}, ${lateness.max.toFixed(1)} ms` : 'none'
  return [
    [`simulator, ${what}${how}: rows made of those due`, `${samples} of ${wanted}`, 'all', samples === wanted && missed === 0],
    [
      `   late by (half, 99 %, all are within), of which up to ${tickMs} ms are the tick; share of a core`,
      `${late}; ${(100 * cpuShare).toFixed(1)} %`, '', null
    ]
  ]
}

/** @param {import('./modbus-week.js').Week} week @returns {Table} */
function weekRows ({ polls, days, seconds, faults, disconnects, heapMegabytes }) {
  const faultCount = Object.values(faults).reduce((sum, count) => sum + count, 0)
  const settled = heapMegabytes.slice(2)
  const heap = `${Math.min(...settled).toFixed(1)} … ${Math.max(...settled).toFixed(1)} MB`
  const week = `${quantity(polls)} polls of a device with ${faultCount} faults and ${disconnects} disconnects`
  return [[`modbus read, ${week} (${days.toFixed(1)} days in ${seconds.toFixed(0)} s): heap after collection`, heap, 'flat', null]]
}
