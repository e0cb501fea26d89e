import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../clock/system-clock.js'
import { SluiceError } from '../../base/errors.js'
import { Pace } from '../../sources/playback/pace.js'
import { logEntries, refuseUnreadableLog } from '../logs/log-file.js'
import { Listeners } from './listeners.js'

/**
 * @typedef {import('./bus.js').Bus} Bus
 * @typedef {import('./bus.js').Frame} Frame
 */

const TICK_MS = 10
const MAX_FRAMES = 1000

/**
 * A log that plays as if it were live, from when the first listener comes, and once it has ended, from when the next does. While a
 * listener is paused it stands still.
 * @param {{logFile: string, speed: number, loop: boolean, bitrate: number, dataBitrate: number}} options
 * @param {import('./bus.js').BusContext} context
 * @throws {SluiceError} SLUICE_REPLAY_FILE; its listeners end with that, SLUICE_CAN_LOG_FORMAT or SLUICE_REPLAY_EMPTY
 */
export function openPlaybackBus (options, context) {
  refuseUnreadableLog(options.logFile)
  return new PlaybackBus(options, context)
}

/** @implements {Bus} */
class PlaybackBus {
  counters = { badLines: 0 }
  #options
  #clock
  #log
  #listeners
  #closing = new AbortController()
  /** @type {Promise<void>|undefined} */
  #running
  /** @type {Pace|undefined} */
  #pace
  /** Of the last frame that was heard. */
  #lastNs = 0n
  /** Due, and not heard yet. @type {Frame[]} */
  #frames = []
  /** @type {bigint[]} */
  #times = []

  /** @param {Parameters<typeof openPlaybackBus>[0]} options @param {import('./bus.js').BusContext} context */
  constructor (options, { log, clock = systemClock }) {
    this.name = options.logFile
    this.#options = options
    this.#clock = clock
    this.#log = log
    this.#listeners = new Listeners(options, { waits: true })
  }

  /** @param {import('./bus.js').Listener} listener */
  listen (listener) {
    const stop = this.#listeners.add(listener)
    this.#running ??= this.#run()
    return stop
  }

  async send () {
    throw new SluiceError('SLUICE_CAN_READ_ONLY', 'A played log accepts no frames.', { fix: 'Send to a SocketCAN or virtual bus.' })
  }

  trouble () {
    return this.#pace?.troubleOf('frame')
  }

  gauge () {
    return { ...this.#listeners.statistics.report(this.#clock.nowNs()), ...this.counters }
  }

  async close () {
    this.#closing.abort()
    await this.#running
  }

  get #closed () { return this.#closing.signal.aborted }

  async #run () {
    let failure
    try {
      await nextTurn() // all who start together hear its beginning
      const pace = this.#pace = this.#newPace()
      do await this.#playRound(pace)
      while (this.#options.loop && !this.#closed)
    } catch (error) {
      failure = error
    }
    if (this.#closed) return
    this.#running = undefined
    this.#listeners.end(failure)
  }

  /** From now on; where times have run ahead of the clock before, after those. */
  #newPace () {
    const nowNs = this.#clock.nowNs()
    return new Pace({
      speed: this.#options.speed,
      startNs: nowNs > this.#lastNs ? nowNs : this.#lastNs + 1n,
      clock: this.#clock,
      closing: this.#closing.signal,
      tickMs: TICK_MS,
      isPaused: () => this.#listeners.isPaused
    })
  }

  /** @param {Pace} pace */
  async #playRound (pace) {
    let frames = 0
    for await (const entries of logEntries(this.#options.logFile)) {
      for (const entry of entries) {
        if ('reason' in entry) {
          this.#refuse(entry)
          continue
        }
        frames++
        if (this.#frames.length >= MAX_FRAMES) await this.#pass(pace)
        if (!pace.isDue(entry.ns)) await pace.waitFor(entry.ns, () => this.#pass(pace))
        if (this.#closed) return
        this.#frames.push(entry.frame)
        this.#times.push(pace.at(entry.ns))
      }
      await this.#pass(pace)
      await nextTurn()
      if (this.#closed) return
    }
    pace.endRound(frames)
  }

  /** Has what is due heard, once no listener is paused. @param {Pace} pace */
  async #pass (pace) {
    await pace.waitWhilePaused()
    if (this.#closed || this.#frames.length === 0) return
    const frames = this.#frames
    const times = BigInt64Array.from(this.#times)
    this.#frames = []
    this.#times = []
    this.#lastNs = times[times.length - 1]
    this.#listeners.hear(frames, times)
  }

  /** @param {import('../logs/log-file.js').BadLine} badLine */
  #refuse ({ line, reason }) {
    if (this.counters.badLines++ > 0) return
    this.#log.warn(`${this.#options.logFile}, line ${line}: ${reason}. Bad lines are counted and left out.`)
  }
}
