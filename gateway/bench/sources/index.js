import { quantity } from '../../stats/format.js'
import { benchModbus } from './modbus.js'
import { benchSimulator } from './simulator.js'

/**
 * Sources: what they can take in, beside what there is to take in.
 *
 * @typedef {import('../bench.js').Table} Table
 */

const GOAL_MODBUS_RATIO = 0.8

/** @param {{quick: boolean, progress: (text: string) => void}} options */
export async function benchSources ({ quick, progress }) {
  const modbus = await benchModbus({ seconds: quick ? 1 : 3, progress })
  progress('simulator')
  const simulator = await benchSimulator({ seconds: quick ? 3 : 20 })
  return { modbus, simulator }
}

/** @param {Awaited<ReturnType<typeof benchSources>>} measured @returns {Table} */
export function sourcesTable ({ modbus, simulator }) {
  return [...modbus.flatMap(modbusRows), ...simulator.flatMap(simulatorRows)]
}

/** @param {Awaited<ReturnType<typeof benchModbus>>[number]} measured @returns {Table} */
function modbusRows ({ pipeline, ours, library, ratio }) {
  const atATime = `${pipeline} request${pipeline === 1 ? '' : 's'} at a time`
  return [
    [`modbus read over loopback, float32 values, ${atATime}`, `${quantity(ours)} registers/s`, '', null],
    [`modbus-serial in its tightest loop, ${atATime}`, `${quantity(library)} registers/s`, '', null],
    ['ratio', ratio.toFixed(2), `≥ ${GOAL_MODBUS_RATIO}`, ratio >= GOAL_MODBUS_RATIO]
  ]
}

/** @param {Awaited<ReturnType<typeof benchSimulator>>[number]} measured @returns {Table} */
function simulatorRows ({ what, blocked, samples, wanted, missed, lateness, cpuShare, tickMs }) {
  const how = blocked ? ', event loop blocked 20 ms in every 100' : ''
  const late = lateness ? `${lateness.p50.toFixed(1)}, ${lateness.p99.toFixed(1)}, ${lateness.max.toFixed(1)} ms` : 'none'
  return [
    [`simulator, ${what}${how}: rows made of those due`, `${samples} of ${wanted}`, 'all', samples === wanted && missed === 0],
    [`   late by (half, 99 %, all are within), of which up to ${tickMs} ms are the tick; share of a core`, `${late}; ${(100 * cpuShare).toFixed(1)} %`, '', null]
  ]
}
