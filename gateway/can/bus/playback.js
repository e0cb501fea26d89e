import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../clock/system-clock.js'
import { SluiceError } from '../../base/errors.js'
import { LogTime } from '../candump/log-time.js'
import { Playback } from '../../sources/playback/pace.js'
import { parseCandumpLine } from '../candump/line.js'
import { lineBlocks } from '../candump/line-blocks.js'
import { Listeners } from './listeners.js'
import { emptyLog, readLog, refuseNoFile } from '../candump/log-file.js'

/**
 * @typedef {import('./bus.js').Bus} Bus
 * @typedef {import('./bus.js').Frame} Frame
 */

const TICK_MS = 10
const MAX_SLEEP_MS = 1000
const MAX_FRAMES = 1000
const NS_PER_DAY = 86_400_000_000_000n

/**
 * A candump log that plays as if it were live, from when the first listener comes, and once it has ended, from when the next does. While a
 * listener is held it stands still.
 * @param {{logFile: string, speed: number, loop: boolean, bitrate: number, dataBitrate: number}} options
 * @param {import('./bus.js').BusContext} context
 * @throws {SluiceError} SLUICE_REPLAY_FILE; its listeners end with that or SLUICE_REPLAY_EMPTY
 */
export function openPlaybackBus (options, context) {
  refuseNoFile(options.logFile)
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
  /** @type {Playback|undefined} */
  #playback
  /** When the frame that is waited for plays. */
  #dueNs = 0n
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
    throw new SluiceError('SLUICE_CAN_READ_ONLY', 'A played log takes no frames.', { fix: 'Send to a SocketCAN or virtual bus.' })
  }

  /** Where the times of a log jump, as when the clock of its machine was set, nothing may come for years. @returns {string|undefined} */
  trouble () {
    const days = (this.#dueNs - this.#clock.nowNs()) / NS_PER_DAY
    return days > 0n ? `the times jump: the next frame plays in ${days} ${days === 1n ? 'day' : 'days'}` : undefined
  }

  gauge () {
    return { ...this.#listeners.statistics.report(this.#clock.nowNs()), ...this.counters }
  }

  async close () {
    this.#closing.abort()
    await this.#running
  }

  /** Now, or where times have run ahead of the clock before, after those. */
  get #startNs () {
    const nowNs = this.#clock.nowNs()
    return nowNs > this.#lastNs ? nowNs : this.#lastNs + 1n
  }

  get #closed () { return this.#closing.signal.aborted }

  async #run () {
    let failure
    try {
      await nextTurn() // all who start together hear its beginning
      this.#playback = new Playback(this.#options.speed, this.#startNs)
      do await this.#playRound(this.#playback)
      while (this.#options.loop && !this.#closed)
    } catch (error) {
      failure = error
    }
    if (this.#closed) return
    this.#running = undefined
    this.#listeners.end(failure)
  }

  /** @param {Playback} playback */
  async #playRound (playback) {
    const { logFile, speed } = this.#options
    let frames = 0
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
          this.#refuse(lineNumber, frame.reason)
          continue
        }
        frames++
        const logNs = logTime.next(frame.stamp)
        if (this.#frames.length >= MAX_FRAMES) await this.#pass()
        if (speed > 0 && playback.at(logNs) > this.#clock.nowNs()) await this.#waitFor(logNs, playback)
        if (this.#closed) return
        this.#frames.push(frame)
        this.#times.push(playback.at(logNs))
      }
      await this.#pass()
      await nextTurn()
      if (this.#closed) return
    }
    if (frames === 0) throw emptyLog(logFile)
    playback.endRound(frames)
  }

  /** Has what is due heard, tick by tick, until a frame is. @param {bigint} logNs @param {Playback} playback */
  async #waitFor (logNs, playback) {
    while (!this.#closed) {
      await this.#pass()
      this.#dueNs = playback.at(logNs)
      const waitNs = this.#dueNs - this.#clock.nowNs()
      if (waitNs <= 0n) return
      await this.#clock.sleep(Math.min(Math.max(Number(waitNs) / 1e6, TICK_MS), MAX_SLEEP_MS), this.#closing.signal)
    }
  }

  /** Has what is due heard, once nobody who listens is held. */
  async #pass () {
    if (this.#listeners.isHeld) await this.#waitForRelease()
    if (this.#closed || this.#frames.length === 0) return
    const frames = this.#frames
    const times = BigInt64Array.from(this.#times)
    this.#frames = []
    this.#times = []
    this.#lastNs = times[times.length - 1]
    this.#listeners.hear(frames, times)
  }

  /** Playback stands still meanwhile: what waits does not come in a burst. */
  async #waitForRelease () {
    const heldNs = this.#clock.nowNs()
    do await this.#clock.sleep(TICK_MS, this.#closing.signal)
    while (this.#listeners.isHeld && !this.#closed)
    if (this.#options.speed > 0) this.#playback?.pause(this.#clock.nowNs() - heldNs)
  }

  /** @param {number} line @param {string} reason */
  #refuse (line, reason) {
    if (this.counters.badLines++ > 0) return
    this.#log.warn(`${this.#options.logFile}, line ${line}: ${reason}. Bad lines are counted and left out.`)
  }
}
