import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../batch/clock.js'
import { SluiceError } from '../errors.js'
import { readOptions } from '../options.js'
import { Samples } from './samples.js'
import { nameProperty } from './source.js'
import { MACHINE_TOOL } from './waveforms.js'

const HELD_POLL_MS = 5
const NS_PER_MS = 1_000_000n

export const schema = {
  type: 'object',
  title: 'Simulator',
  description: 'Makes samples of a simulated machine, at exact times and the same for the same seed.',
  properties: {
    name: nameProperty('machine'),
    preset: {
      type: 'string',
      title: 'Preset',
      description: 'The machine tool has an angle and four sensors of 12 bits at 3 cycles a second, as in the study by Arnst, Plenk and Wöltche. Or describe channels of your own.',
      enum: ['machine-tool', 'channels'],
      'x-labels': { 'machine-tool': 'Machine tool', channels: 'My own channels' },
      default: 'machine-tool'
    },
    channels: {
      type: 'array',
      title: 'Channels',
      description: 'One column each, all sampled at the same times.',
      'x-when': { preset: 'channels' },
      minItems: 1,
      maxItems: 1000,
      default: [{ name: 'value', shape: 'sine', offset: 0, amplitude: 1, frequencyHz: 1, noise: 0, unit: '', type: 'float64' }],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', title: 'Channel', description: 'Names the column.', default: 'value', minLength: 1 },
          shape: { type: 'string', title: 'Shape', description: 'How the value moves.', enum: ['sine', 'sawtooth', 'square', 'noise', 'random-walk'], default: 'sine' },
          offset: { type: 'number', title: 'Offset', description: 'The middle of the values.', default: 0 },
          amplitude: { type: 'number', title: 'Amplitude', description: 'How far the value goes from the middle, either way.', default: 1 },
          frequencyHz: { type: 'number', title: 'Frequency', description: 'Cycles a second of a sine, sawtooth or square.', minimum: 0, maximum: 10000, default: 1, 'x-unit': 'Hz' },
          noise: { type: 'number', title: 'Noise', description: 'Largest random deviation on top.', minimum: 0, default: 0 },
          unit: { type: 'string', title: 'Unit', description: 'Kept with the column, for example °C.', default: '' },
          type: { type: 'string', title: 'Type', description: 'What a value is stored as; whole numbers are rounded and kept within their range.', enum: ['float64', 'float32', 'int32', 'int16', 'uint16'], default: 'float64' }
        }
      }
    },
    sampleRateHz: {
      type: 'number',
      title: 'Sample rate',
      description: 'Samples a second of every channel.',
      minimum: 0.001,
      maximum: 10000,
      default: 1000,
      'x-unit': 'Hz'
    },
    paced: {
      type: 'boolean',
      title: 'In real time',
      description: 'Make samples when they are due. Otherwise as fast as they are taken, their times running ahead of the clock: for benchmarks.',
      default: true,
      'x-advanced': true
    },
    tickMs: {
      type: 'integer',
      title: 'Tick',
      description: 'Each tick sends all samples due as one batch.',
      minimum: 10,
      maximum: 50,
      default: 50,
      'x-unit': 'ms',
      'x-when': { paced: true },
      'x-advanced': true
    },
    maxBacklogMs: {
      type: 'integer',
      title: 'Longest backlog',
      description: 'After a longer pause of the whole process, older samples are skipped and counted as missed.',
      minimum: 50,
      maximum: 60000,
      default: 1000,
      'x-unit': 'ms',
      'x-when': { paced: true },
      'x-advanced': true
    },
    batchRows: {
      type: 'integer',
      title: 'Batch size',
      description: 'Rows of each batch when not in real time.',
      minimum: 1,
      maximum: 100000,
      default: 1000,
      'x-unit': 'rows',
      'x-when': { paced: false },
      'x-advanced': true
    },
    seed: {
      type: 'integer',
      title: 'Seed',
      description: 'Another seed gives other noise.',
      minimum: 0,
      maximum: 2 ** 31 - 1,
      default: 1,
      'x-advanced': true
    },
    maxSamples: {
      type: 'integer',
      title: 'Stop after',
      description: 'Samples of each channel to make; 0 goes on for ever.',
      minimum: 0,
      default: 0,
      'x-unit': 'samples',
      'x-advanced': true
    }
  }
}

/**
 * Starts a simulated machine. Sample i is stamped t0 + i·dt, dt being the sample period in whole nanoseconds.
 *
 * Counters: `samples` made; `late`, those of them sent more than one tick after the tick they were due in; `missed`, those never made because
 * the process paused for too long or the spool was full.
 * @param {object} options  as in the schema
 * @param {import('./source.js').SourceContext} context
 * @returns {import('./source.js').Source}
 * @throws {SluiceError} SLUICE_OPTIONS
 */
export function openSimulator (options, context) {
  const simulator = new Simulator(readOptions(schema, options), context)
  return { counters: simulator.counters, close: () => simulator.close() }
}

class Simulator {
  counters = { samples: 0, late: 0, missed: 0 }
  #options
  #context
  #clock
  #samples
  #closing = new AbortController()
  #stopTicking = () => {}
  #running = Promise.resolve()

  /** @param {any} options @param {import('./source.js').SourceContext} context */
  constructor (options, context) {
    const { name, preset, sampleRateHz, seed, paced, tickMs } = options
    const channels = preset === 'machine-tool' ? MACHINE_TOOL : options.channels
    refuseDuplicates(channels)
    this.#options = options
    this.#context = context
    this.#clock = context.clock ?? systemClock
    this.#samples = new Samples({ source: name, channels, sampleRateHz, seed, startNs: this.#clock.nowNs() })
    if (paced) this.#stopTicking = this.#clock.every(tickMs, () => this.#tick())
    else this.#running = this.#runFreely()
  }

  async close () {
    this.#stop()
    await this.#running
  }

  #tick () {
    try {
      const now = this.#clock.nowNs()
      const { tickMs, maxBacklogMs } = this.#options
      if (this.#context.held()) return this.#miss(this.#samples.dueAt(now))
      this.#miss(this.#samples.dueAt(now - BigInt(maxBacklogMs) * NS_PER_MS))
      this.counters.late += Math.min(this.#samples.dueAt(now - BigInt(2 * tickMs) * NS_PER_MS), this.#remaining)
      this.#emit(this.#samples.dueAt(now))
    } catch (error) {
      this.#end(error)
    }
  }

  async #runFreely () {
    try {
      for (await nextTurn(); !this.#closing.signal.aborted; await nextTurn()) {
        if (this.#context.held()) await this.#clock.sleep(HELD_POLL_MS, this.#closing.signal)
        else this.#emit(this.#options.batchRows)
      }
    } catch (error) {
      this.#end(error)
    }
  }

  get #remaining () {
    const { maxSamples } = this.#options
    return maxSamples === 0 ? Infinity : maxSamples - this.counters.samples
  }

  /** @param {number} due */
  #emit (due) {
    const rows = Math.min(due, this.#remaining)
    if (rows === 0) return
    this.counters.samples += rows
    this.#context.emit(this.#samples.take(rows))
    if (this.#remaining === 0) this.#end()
  }

  /** @param {number} rows */
  #miss (rows) {
    this.#samples.skip(rows)
    this.counters.missed += rows
  }

  /** @param {unknown} [error] */
  #end (error) {
    if (this.#closing.signal.aborted) return
    this.#stop()
    this.#context.onEnd(error)
  }

  #stop () {
    this.#closing.abort()
    this.#stopTicking()
  }
}

/** @param {{name: string}[]} channels */
function refuseDuplicates (channels) {
  const names = new Set()
  for (const { name } of channels) {
    if (names.has(name)) throw new SluiceError('SLUICE_OPTIONS', `Two channels are named "${name}".`, { fix: 'Give each a name of its own.' })
    names.add(name)
  }
}
