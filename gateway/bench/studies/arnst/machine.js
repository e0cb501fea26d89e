import { readOptions } from '../../../base/options.js'
import { Batch } from '../../../batch/batch.js'
import { floor } from '../../../batch/layouts.js'
import { parseTime } from '../../../batch/time.js'
import { systemClock } from '../../../clock/system-clock.js'
import { presets } from '../../../simulators/presets/index.js'
import { openSimulator, schema } from '../../../simulators/simulator.js'
import { PACE } from './published.js'

/**
 * The machine tool of the study: 1000 samples a second of five channels, under the names that the paper's line protocol has. Sample i is
 * the same in every run, and at i milliseconds after the first; a database that keeps milliseconds keeps its time.
 */

export const MEASUREMENT = 'measurement'
export const CHANNELS = Object.freeze(['m0', 'm1', 'm2', 'm3', 'm4'])
export const RATE_HZ = PACE.samplesPerSecond
export const PERIOD_NS = 1_000_000n
/** Of the angle, which is the first channel. */
export const AMPLITUDE = 4096

const PRESET = 'machine-tool'
const OPTIONS = { preset: PRESET, name: MEASUREMENT, sampleRateHz: RATE_HZ, seed: 1 }
/** As often as Node does it without being late. */
const TICK_MS = 10
const UNPACED_ROWS = 1000
const UNKNOWN = -1n
/** Samples that are made while the database takes no more are lost, as in the paper: where they wait there are 16 kB, of 10 bytes each. */
export const MAX_WAITING_SAMPLES = 1600

/**
 * @typedef {object} Machine
 * @property {bigint} startNs  of sample 0
 * @property {() => number} missed  samples so far, as what is downstream was full or the process paused
 * @property {() => Promise<void>} stop
 */

/**
 * Starts it: in real time, or as fast as it goes to so many samples.
 * @param {object} options
 * @param {(batch: Batch) => void} options.emit
 * @param {() => boolean} options.isPaused
 * @param {(error?: unknown) => void} options.onEnd
 * @param {string} [options.startTime]  then it does not run in real time
 * @param {number} [options.samples]
 * @returns {Machine}
 */
export function startMachine ({ emit, isPaused, onEnd, startTime = '', samples = 0 }) {
  const paced = startTime === ''
  const start = { ns: paced ? UNKNOWN : parseTime(startTime) }
  const clock = {
    ...systemClock,
    nowNs () {
      const ns = floor(systemClock.nowNs(), PERIOD_NS)
      if (start.ns === UNKNOWN) start.ns = ns // the first time that it asks for
      return ns
    }
  }
  const source = openSimulator({ ...OPTIONS, paced, tickMs: TICK_MS, startTime, maxSamples: samples, batchRows: UNPACED_ROWS }, {
    emit: batch => emit(named(batch)), isPaused, onEnd, clock, log: console
  })
  return {
    startNs: start.ns,
    missed: () => source.counters.missed,
    stop: () => source.close()
  }
}

/**
 * What it makes, without making it wait.
 * @param {bigint} startNs  of sample 0 @param {number} first @param {number} count
 * @returns {Batch}
 */
export function samplesAt (startNs, first, count) {
  const generator = presets[PRESET].open(readOptions(schema, OPTIONS), startNs)
  generator.skip(first)
  return named(generator.take(count)[0])
}

/** @param {Batch} batch */
function named ({ source, time, fields, columns }) {
  return new Batch({ source, time, fields: fields.map(({ type }, i) => ({ name: CHANNELS[i], type })), columns })
}
