import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../clock/system-clock.js'
import { parseTime } from '../batch/time.js'
import { readOptions } from '../base/options.js'
import { presetProperties, presets } from './presets/index.js'
import { nameProperty } from '../sources/source.js'

const PAUSED_POLL_MS = 5
const NS_PER_MS = 1_000_000n

/** Fewer ticks are not a backlog: they would be skipped on a busy machine. */
const MIN_BACKLOG_TICKS = 4

export const schema = {
  type: 'object',
  title: 'Simulator',
  description: 'Makes samples of simulated machines, at exact times; the same seed gives the same values.',
  properties: {
    name: nameProperty('machine'),
    preset: {
      type: 'string',
      title: 'Preset',
      description: Object.values(presets).map(({ text }) => text).join(' '),
      enum: Object.keys(presets),
      'x-labels': Object.fromEntries(Object.entries(presets).map(([name, { label }]) => [name, label])),
      default: 'machine-tool'
    },
    ...presetProperties(),
    paced: {
      type: 'boolean',
      title: 'In real time',
      description: 'Make samples when they are due. Otherwise as fast as they are taken, their times running ahead of the clock: for ' +
        'benchmarks.',
      default: true,
      'x-advanced': true
    },
    tickMs: {
      type: 'integer',
      title: 'Tick',
      description: 'Each tick sends all samples due as one batch.',
      minimum: 10,
      maximum: 1000,
      default: 400,
      'x-unit': 'ms',
      'x-when': { paced: true },
      'x-advanced': true
    },
    maxBacklogMs: {
      type: 'integer',
      title: 'Longest backlog',
      description: 'After a longer pause of the whole process, older samples are skipped and counted as missed. At least four ticks.',
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
      description: 'Rows of each batch when not in real time: BatchSize of SciTS. Wide rows and large BLOBs make it smaller: a batch ' +
        'of channels has at most 4 MB.',
      minimum: 1,
      maximum: 100000,
      default: 1000,
      'x-unit': 'rows',
      'x-when': { paced: false },
      'x-advanced': true
    },
    startTime: {
      type: 'string',
      title: 'First time',
      description: 'Of the first sample when not in real time, as 2022-01-01T00:00:00Z: StartTime of SciTS. Empty: now.',
      pattern: '^(\\d{4}-\\d{2}-\\d{2}([T ].+)?|\\d+)$',
      examples: ['2022-01-01T00:00:00Z'],
      default: '',
      'x-labels': { '': 'now' },
      'x-when': { paced: false },
      'x-advanced': true
    },
    seed: {
      type: 'integer',
      title: 'Seed',
      description: 'Another seed gives other noise, values and trouble.',
      minimum: 0,
      maximum: 2 ** 31 - 1,
      default: 1,
      'x-advanced': true
    },
    maxSamples: {
      type: 'integer',
      title: 'Stop after',
      description: 'How many samples of each channel or vehicle, or records; 0: no end.',
      minimum: 0,
      default: 0,
      'x-unit': 'samples',
      'x-advanced': true
    }
  }
}

/**
 * Starts a simulated machine. Sample i is stamped t0 + i·dt, dt being the sample period in whole nanoseconds; the records of a preset that
 * has many sensors share the time of their step.
 *
 * Counters, in rows: `samples` made; `late`, those of them sent more than one tick after the tick they were due in; `missed`, those never
 * made because the process paused for too long or the spool was full.
 * @param {object} options  as in the schema
 * @param {import('../sources/source.js').SourceContext} context
 * @returns {import('../sources/source.js').Source}
 * @throws {import('../base/errors.js').SluiceError} SLUICE_OPTIONS, or that the first time is not a time
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
  #generator
  #recorded
  #made = 0
  #closing = new AbortController()
  #stopTicking = () => {}
  #running = Promise.resolve()

  /** @param {any} options @param {import('../sources/source.js').SourceContext} context */
  constructor (options, context) {
    const { preset, paced, tickMs, startTime } = options
    this.#options = options
    this.#context = context
    this.#clock = context.clock ?? systemClock
    this.#recorded = startTime !== ''
    this.#generator = presets[preset].open(options, this.#recorded ? parseTime(startTime) : this.#clock.nowNs())
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
      const dueBefore = (/** @type {number} */ ms) => this.#generator.dueAt(now - BigInt(ms) * NS_PER_MS)
      if (this.#context.isPaused()) return this.#miss(dueBefore(0))
      this.#miss(dueBefore(Math.max(maxBacklogMs, MIN_BACKLOG_TICKS * tickMs)))
      const late = dueBefore(2 * tickMs)
      this.counters.late += Math.min(late, this.#emit(dueBefore(0))) * this.#generator.rows
    } catch (error) {
      this.#end(error)
    }
  }

  async #runFreely () {
    try {
      for (await nextTurn(); !this.#closing.signal.aborted; await nextTurn()) {
        if (this.#context.isPaused()) await this.#clock.sleep(PAUSED_POLL_MS, this.#closing.signal)
        else this.#emit(Math.min(this.#options.batchRows, this.#generator.maxAtOnce))
      }
    } catch (error) {
      this.#end(error)
    }
  }

  get #remaining () {
    const { maxSamples } = this.#options
    return maxSamples === 0 ? Infinity : maxSamples - this.#made
  }

  /** Sends what is due, unless what is downstream becomes full meanwhile. @param {number} due @returns {number} how many samples it sent */
  #emit (due) {
    const wanted = Math.min(due, this.#remaining)
    let sent = 0
    while (sent < wanted && !this.#closing.signal.aborted && !(sent > 0 && this.#context.isPaused())) {
      const count = Math.min(wanted - sent, this.#generator.maxAtOnce)
      sent += count
      this.#made += count
      this.counters.samples += count * this.#generator.rows
      for (const batch of this.#generator.take(count)) this.#context.emit(batch, { recorded: this.#recorded })
    }
    if (this.#remaining === 0) this.#end()
    return sent
  }

  /** @param {number} samples */
  #miss (samples) {
    this.#generator.skip(samples)
    this.counters.missed += samples * this.#generator.rows
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
