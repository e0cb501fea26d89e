import { systemClock } from '../clock/system-clock.js'
import { parseIdFilter } from './bus/id-filter.js'
import { dbcProperties, readMessages } from './dbc/options.js'
import { readOptions } from '../base/options.js'
import { FrameSorter } from './rows/frame-rows.js'
import { SignalSorter } from './rows/signal-rows.js'
import { nameProperty } from '../sources/source.js'
import { warnerOnce } from '../sources/warn-once.js'

/**
 * @typedef {import('./bus/bus.js').Bus} Bus
 * @typedef {import('./bus/bus.js').Listener} Listener
 * @typedef {import('./candump/line.js').Frame} Frame
 * @typedef {import('../sources/source.js').SourceContext & {bus: Bus}} CanContext
 */

const PAUSED_POLL_MS = 20

const ofSignals = { mode: 'signals' }

export const schema = {
  type: 'object',
  title: 'CAN read',
  description: 'Reads a CAN bus: its signals, by a DBC file, or its frames as they are.',
  properties: {
    name: nameProperty('can'),
    mode: {
      type: 'string',
      title: 'Output',
      description: 'Signals: a source for each message, name.message, with a column for each signal and a row for each frame. Frames: ' +
        'one source, with their identifiers and bytes.',
      enum: ['signals', 'frames'],
      'x-labels': { signals: 'Signals', frames: 'Frames' },
      default: 'signals'
    },
    dbcFile: { ...dbcProperties.dbcFile, 'x-when': ofSignals },
    choices: { ...dbcProperties.choices, 'x-when': ofSignals },
    matching: { ...dbcProperties.matching, 'x-when': ofSignals },
    indicators: { ...dbcProperties.indicators, 'x-when': ofSignals },
    filter: {
      type: 'string',
      title: 'Identifiers',
      description: 'Only these, in hexadecimal: 123, 200-2FF, 7E8:7F8 (under a mask), 18FEF100x. More than three digits, or an x, are ' +
        '29-bit identifiers. Empty: all. SocketCAN keeps the others from this process.',
      maxLength: 10_000,
      default: '',
      'x-labels': { '': 'all' }
    },
    batchMs: {
      type: 'integer',
      title: 'Batch',
      description: 'Frames that come within this time are sent as one batch of each source, of at most 1000 rows.',
      minimum: 10,
      maximum: 1000,
      default: 50,
      'x-unit': 'ms',
      'x-advanced': true
    }
  }
}

/**
 * Starts to listen to a bus. While it is paused, a played log waits; frames of a live bus are dropped and counted.
 *
 * Counters: `frames` heard, `rows` made of them; `unknownIds`, `undecodable`, `otherFrames` and `errorFrames` as in SignalSorter; `dropped`
 * while it was paused; `missed`: those, and what the interface has lost; `badLines` of a log.
 * @param {object} options  as in the schema
 * @param {CanContext} context
 * @returns {import('../sources/source.js').Source}
 * @throws {import('../base/errors.js').SluiceError} SLUICE_OPTIONS, SLUICE_CAN_FILTER, those of readDbcFile; `onEnd` is
 *   called with what a played log fails with
 */
export function openCanRead (options, context) {
  const { bus } = context
  const read = new CanRead(readOptions(schema, options), context)
  return {
    counters: read.counters,
    close: () => read.close(),
    trouble: () => bus.trouble(),
    gauge: () => ({ ...bus.gauge(), ...read.gauge() })
  }
}

/** @implements {Listener} */
class CanRead {
  counters
  #context
  #clock
  #sorter
  #closing = new AbortController()
  #stopFlushing
  #stopListening
  #isOver = false

  /** @param {any} options @param {CanContext} context */
  constructor (options, context) {
    const { name, mode, choices, filter, batchMs } = options
    this.#context = context
    this.#clock = context.clock ?? systemClock
    const counters = this.counters = countersOf(context.bus)
    this.filter = parseIdFilter(filter)
    this.#sorter = mode === 'frames'
      ? new FrameSorter({ name, counters })
      : new SignalSorter({ name, messages: readMessages(options, context.log), choices, counters, warnOnce: warnerOnce(context.log) })
    this.#stopFlushing = this.#clock.every(batchMs, () => this.#flushIfTaken())
    this.#stopListening = context.bus.listen(this)
  }

  isPaused () {
    return this.#context.isPaused()
  }

  /** @param {number} frames */
  miss (frames) {
    this.counters.dropped += frames
  }

  /** @param {Frame[]} frames @param {BigInt64Array} times */
  take (frames, times) {
    this.counters.frames += frames.length
    for (let i = 0; i < frames.length; i++) {
      const rows = this.#sorter.put(times[i], frames[i])
      if (rows?.isFull) this.#context.emit(rows.take())
    }
  }

  /** @param {unknown} [error] */
  async end (error) {
    this.#stopFlushing()
    this.#stopListening()
    const { signal } = this.#closing
    while (this.#context.isPaused() && !signal.aborted) await this.#clock.sleep(PAUSED_POLL_MS, signal)
    if (this.#isOver) return
    this.#isOver = true
    try {
      this.#flush()
    } catch (problem) {
      error ??= problem
    }
    this.#context.onEnd(error)
  }

  /** @returns {Record<string, number>} */
  gauge () {
    return { ...this.counters, ...this.#sorter.transported }
  }

  /** Sends what it has; while it is paused, drops it. */
  async close () {
    this.#closing.abort()
    this.#stopFlushing()
    this.#stopListening()
    if (this.#isOver) return
    this.#isOver = true
    if (!this.#context.isPaused()) this.#flush()
    else for (const { rows } of this.#sorter.all()) this.counters.dropped += rows
  }

  #flushIfTaken () {
    try {
      if (!this.#context.isPaused()) this.#flush()
    } catch (error) {
      this.end(error)
    }
  }

  #flush () {
    for (const rows of this.#sorter.all()) if (rows.rows > 0) this.#context.emit(rows.take())
  }
}

/** The bus counts from when it was opened, for all who read it; these counters begin now. @param {Bus} bus */
function countersOf ({ counters: ofBus }) {
  const { drops: dropsBefore = 0, badLines: badLinesBefore = 0 } = ofBus
  return {
    frames: 0,
    rows: 0,
    dropped: 0,
    unknownIds: 0,
    undecodable: 0,
    otherFrames: 0,
    errorFrames: 0,
    get missed () { return this.dropped + (ofBus.drops ?? 0) - dropsBefore },
    get badLines () { return (ofBus.badLines ?? 0) - badLinesBefore }
  }
}
