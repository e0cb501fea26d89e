import { setImmediate as nextTurn } from 'node:timers/promises'
import { emptyLog, readLog, refuseNoFile } from './log-file.js'
import { parseCandumpLine } from './line.js'
import { readDbcFile } from '../dbc/file.js'
import { Decoder } from '../dbc/decoder.js'
import { lineBlocks } from './line-blocks.js'
import { SluiceError } from '../../base/errors.js'
import { readOptions } from '../../base/options.js'
import { transportOf } from '../rows/signal-rows.js'
import { LogTime } from './log-time.js'
import { MessageRows } from '../rows/message-rows.js'
import { playProperties } from '../../sources/playback/options.js'
import { Player } from '../../sources/playback/player.js'
import { nameProperty } from '../../sources/source.js'

/** @typedef {import('./line.js').Frame} Frame */

const MAX_ROWS = 1000
/** A machine has a few; a log can name any number. */
const MAX_BUSES = 100

export const schema = {
  type: 'object',
  title: 'CAN log playback',
  description: 'Plays a log written by candump and decodes it with a DBC file: one batch per message and tick, one column per signal.',
  required: ['logFile', 'dbcFile'],
  properties: {
    name: nameProperty('n2k'),
    logFile: {
      type: 'string',
      title: 'Log file',
      description: 'As candump writes it: with -l, or what it shows on the screen. Time stamps that are dates are read as UTC.',
      default: 'examples/data/nmea2000.log',
      minLength: 1
    },
    dbcFile: {
      type: 'string',
      title: 'DBC file',
      description: 'Describes the messages and signals of the bus. Messages of J1939 and NMEA 2000 are found by parameter group ' +
        'number, and their "not available" is a missing value.',
      default: 'examples/data/nmea2000.dbc',
      minLength: 1,
      'x-dbc': true
    },
    ...playProperties('log', 'log')
  }
}

/**
 * Starts to play a candump log. Batches are named `<name>.<message>`, one for each message and bus at every tick (50 ms, at most 1000
 * rows).
 * While it is held it pauses and loses nothing.
 *
 * Counters: `frames` read, `rows` decoded, `unknownIds` (frames the DBC does not know), `undecodable` (too short for any signal),
 * `otherFrames` (remote and error frames, messages without signals), `badLines`, `rounds` played to the end.
 * @param {object} options  as in the schema
 * @param {import('../../sources/source.js').SourceContext} context
 * @returns {import('../../sources/source.js').Source}
 * @throws {SluiceError} SLUICE_OPTIONS, SLUICE_REPLAY_FILE, SLUICE_DBC_FILE, SLUICE_DBC_EMPTY; while it plays, `onEnd` is called with
 *   SLUICE_REPLAY_FILE, SLUICE_REPLAY_EMPTY or SLUICE_REPLAY_TIMES
 */
export function openPlayback (options, context) {
  const playback = new Playback(readOptions(schema, options), context)
  return { counters: playback.counters, trouble: () => playback.trouble, gauge: () => playback.gauge, close: () => playback.close() }
}

class Playback {
  counters = { frames: 0, rows: 0, unknownIds: 0, undecodable: 0, otherFrames: 0, badLines: 0, rounds: 0 }
  #options
  #context
  #decoder
  #transport
  #player
  /** @type {Map<string, Map<import('../dbc/message.js').Message, MessageRows>>} by bus */
  #gathered = new Map()
  /** @type {Set<string>} kinds of trouble already warned of */
  #warned = new Set()
  #closing = new AbortController()
  #running

  /** @param {any} options @param {import('../../sources/source.js').SourceContext} context */
  constructor (options, context) {
    this.#options = options
    this.#context = context
    refuseNoFile(options.logFile)
    const { messages, warnings } = readDbcFile(options.dbcFile)
    for (const { line, reason } of warnings) {
      this.#warnOnce('dbc', `${options.dbcFile}, line ${line}: ${reason}. ${warnings.length} such in all; the rest of the file is used.`)
    }
    this.#decoder = new Decoder(messages)
    this.#transport = transportOf(messages, this.#decoder)
    this.#player = new Player(options, context, this.#closing.signal, () => allRows(this.#gathered))
    this.#running = this.#run()
  }

  async close () {
    this.#closing.abort()
    await this.#running
  }

  get trouble () { return this.#player.trouble }

  get gauge () { return { ...this.counters, ...this.#transport?.counters } }

  get #closed () { return this.#closing.signal.aborted }

  async #run () {
    try {
      do await this.#playRound()
      while (this.#options.loop && !this.#closed)
    } catch (error) {
      if (!this.#closed) this.#context.onEnd(error)
      return
    }
    if (!this.#closed) this.#context.onEnd()
  }

  async #playRound () {
    const { logFile } = this.#options
    const framesBefore = this.counters.frames
    let lineNumber = 0
    /** @type {LogTime|undefined} */
    let logTime
    for await (const lines of lineBlocks(readLog(logFile))) {
      const parsed = lines.map(parseCandumpLine)
      logTime ??= new LogTime(parsed.flatMap(frame => frame && 'data' in frame ? [frame.stamp] : []))
      for (const frame of parsed) {
        lineNumber++
        if (frame === null) continue
        if ('reason' in frame) {
          this.counters.badLines++
          this.#warnOnce('line', `${logFile}, line ${lineNumber}: ${frame.reason}. Bad lines are counted and left out.`)
          continue
        }
        const logNs = logTime.next(frame.stamp)
        this.counters.frames++
        this.#refuseNoDate(frame)
        // An await for each frame would cost as much as all the rest.
        if (!this.#player.isDue(logNs)) await this.#player.waitFor(logNs)
        if (this.#gathered.size === MAX_BUSES) await this.#makeRoom(frame.bus)
        if (this.#closed) return
        const full = this.#take(frame, logNs)
        if (full) await this.#player.send(full)
      }
      await this.#player.flushOld()
      await nextTurn()
      if (this.#closed) return
    }
    const frames = this.counters.frames - framesBefore
    if (frames === 0) throw emptyLog(logFile)
    await this.#player.flush()
    this.counters.rounds++
    this.#player.endRound(frames)
  }

  /** Of a frame whose time has come. @param {Frame} frame @param {bigint} logNs @returns {MessageRows|undefined} rows that are full */
  #take (frame, logNs) {
    const whole = this.#transport ? this.#transport.take(frame, logNs) : frame
    const rows = whole && this.#rowsOf(whole)
    if (!rows) return undefined
    rows.add(this.#player.stamp(logNs), whole)
    this.counters.rows++
    return rows.isFull ? rows : undefined
  }

  /** @param {Frame} frame */
  #refuseNoDate ({ stamp }) {
    const { times, logFile } = this.#options
    if (times !== 'log' || stamp?.absolute) return
    throw new SluiceError('SLUICE_REPLAY_TIMES', `${logFile} has frames without a date.`, {
      fix: 'Choose times shifted to now, or record the log with candump -l.'
    })
  }

  /** A log may name any number of buses. @param {string} bus */
  async #makeRoom (bus) {
    if (this.#gathered.has(bus)) return
    await this.#player.flush()
    this.#gathered.clear()
  }

  /** Where a frame's row goes; undefined, and counted, for one that gives none. @param {Frame} frame */
  #rowsOf ({ kind, id, extended, data, bus }) {
    const { counters } = this
    if (kind !== 'data') {
      counters.otherFrames++
      return undefined
    }
    const message = this.#decoder.find(id, extended)
    if (!message) {
      counters.unknownIds++
      return undefined
    }
    if (message.signals.length === 0) {
      counters.otherFrames++
      return undefined
    }
    if (data.length < message.bytes) {
      counters.undecodable++
      this.#warnOnce('short', `${message.name} of ${data.length} data bytes is too short for any of its signals. Such frames are counted and left out.`)
      return undefined
    }
    const ofBus = this.#gathered.get(bus) ?? new Map()
    const rows = ofBus.get(message) ?? new MessageRows(message, { source: `${this.#options.name}.${message.name}`, bus, capacity: MAX_ROWS })
    this.#gathered.set(bus, ofBus.set(message, rows))
    return rows
  }

  /** @param {string} kind @param {string} text */
  #warnOnce (kind, text) {
    if (this.#warned.has(kind)) return
    this.#warned.add(kind)
    this.#context.log.warn(text)
  }
}

/** @param {Map<string, Map<unknown, MessageRows>>} gathered */
function * allRows (gathered) {
  for (const ofBus of gathered.values()) yield * ofBus.values()
}
