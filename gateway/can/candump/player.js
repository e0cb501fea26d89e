import { setImmediate as nextTurn } from 'node:timers/promises'
import { SluiceError } from '../../base/errors.js'
import { readOptions } from '../../base/options.js'
import { playProperties } from '../../sources/playback/options.js'
import { Player } from '../../sources/playback/player.js'
import { nameProperty } from '../../sources/source.js'
import { warnerOnce } from '../../sources/warn-once.js'
import { readDbcFile } from '../dbc/file.js'
import { dbcProperties } from '../dbc/options.js'
import { SignalSorter } from '../rows/signal-rows.js'
import { logEntries, refuseUnreadableLog } from '../logs/log-file.js'
import { LOG_FORMATS } from '../logs/log-lines.js'

/** A machine has a few; a log can name any number. */
const MAX_BUSES = 100

export const schema = {
  type: 'object',
  title: 'candump player',
  description: 'Plays a log of a CAN bus and decodes it with a DBC file: one batch per message and tick, one column per signal.',
  required: ['logFile', 'dbcFile'],
  properties: {
    name: nameProperty('n2k'),
    logFile: {
      type: 'string',
      title: 'Log file',
      description: `In one of these formats: ${LOG_FORMATS}. Dates without a zone are read as UTC.`,
      default: 'data/nmea2000.log',
      minLength: 1
    },
    dbcFile: { ...dbcProperties.dbcFile, default: 'data/nmea2000.dbc' },
    matching: dbcProperties.matching,
    indicators: dbcProperties.indicators,
    ...playProperties('log', 'log')
  }
}

/**
 * Starts to play a log. Batches are named `<name>.<message>`, one for each message and bus at every tick (50 ms, at most 1000
 * rows). While it is paused it stands still and loses nothing.
 *
 * Counters: `frames` read, `rows` decoded, `unknownIds` (frames the DBC does not know), `undecodable` (too short for any signal),
 * `otherFrames` (remote and error frames, messages without signals), `badLines`, `rounds` played to the end.
 * @param {object} options  as in the schema
 * @param {import('../../sources/source.js').SourceContext} context
 * @returns {import('../../sources/source.js').Source}
 * @throws {SluiceError} SLUICE_OPTIONS, SLUICE_REPLAY_FILE, those of readDbcFile; while it plays, `onEnd` is called with
 *   SLUICE_REPLAY_FILE, SLUICE_CAN_LOG_FORMAT, SLUICE_REPLAY_EMPTY or SLUICE_REPLAY_TIMES
 */
export function openCandumpPlayer (options, context) {
  const player = new CandumpPlayer(readOptions(schema, options), context)
  return { counters: player.counters, trouble: () => player.trouble, gauge: () => player.gauge, close: () => player.close() }
}

class CandumpPlayer {
  counters = { frames: 0, rows: 0, unknownIds: 0, undecodable: 0, otherFrames: 0, badLines: 0, rounds: 0 }
  #options
  #warnOnce
  #sorter
  /** @type {Player} */
  #player

  /** @param {any} options @param {import('../../sources/source.js').SourceContext} context */
  constructor (options, context) {
    this.#options = options
    this.#warnOnce = warnerOnce(context.log)
    refuseUnreadableLog(options.logFile)
    const { messages, warnings, hint } = readDbcFile(options.dbcFile, options)
    if (hint) context.log.warn(`${options.dbcFile}: ${hint}.`)
    for (const { line, reason } of warnings) {
      this.#warnOnce('dbc', `${options.dbcFile}, line ${line}: ${reason}. ${warnings.length} such in all; the rest of the file is used.`)
    }
    this.#sorter = new SignalSorter({
      name: options.name,
      messages,
      counters: this.counters,
      warnOnce: this.#warnOnce,
      stamp: ns => this.#player.stamp(ns),
      maxBuses: MAX_BUSES
    })
    this.#player = new Player(options, context, () => this.#sorter.all())
    this.#player.play(() => this.#playRound())
  }

  get trouble () { return this.#player.trouble }

  get gauge () { return { ...this.counters, ...this.#sorter.transported } }

  close () {
    return this.#player.close()
  }

  async #playRound () {
    const { logFile } = this.#options
    const framesBefore = this.counters.frames
    for await (const entries of logEntries(logFile)) {
      for (const entry of entries) {
        if ('reason' in entry) {
          this.counters.badLines++
          this.#warnOnce('line', `${logFile}, line ${entry.line}: ${entry.reason}. Bad lines are counted and left out.`)
          continue
        }
        const { frame, ns } = entry
        this.counters.frames++
        this.#refuseNoDate(frame)
        // An await for each frame would cost as much as all the rest.
        if (!this.#player.isDue(ns)) await this.#player.waitFor(ns)
        if (!this.#sorter.hasRoomFor(frame.bus)) await this.#makeRoom()
        if (this.#player.closed) return
        const rows = this.#sorter.put(ns, frame)
        if (rows?.isFull) await this.#player.send(rows)
      }
      await this.#player.flushOld()
      await nextTurn()
      if (this.#player.closed) return
    }
    await this.#player.flush()
    this.counters.rounds++
    this.#player.endRound(this.counters.frames - framesBefore)
  }

  /** @param {import('./line.js').Frame} frame */
  #refuseNoDate ({ stamp }) {
    const { times, logFile } = this.#options
    if (times !== 'log' || stamp?.absolute) return
    throw new SluiceError('SLUICE_REPLAY_TIMES', `${logFile} has frames without a date.`, {
      fix: 'Choose times shifted to now, or record the log with candump -l.'
    })
  }

  async #makeRoom () {
    await this.#player.flush()
    this.#sorter.clear()
  }
}
