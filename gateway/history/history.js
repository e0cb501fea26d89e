import { Turns } from '../base/turns.js'
import { describe, SluiceError } from '../base/errors.js'
import { encodeBlock } from './blocks.js'
import { Folder } from './folder.js'
import { meansOf } from './measures.js'
import { asked, list, query, stepsOf } from './query.js'
import { Readings } from './readings.js'
import { COARSE_MS, HOUR_MS, nameOfHour, STEP_MS } from './spans.js'
import { closeHour, keepUp, loadHour } from './upkeep.js'

/**
 * The gateway's own history: every ten seconds for a day, every five minutes for 30 days, in at most 64 MB.
 *
 * It is made for flash cards and for being killed at any time. The hour under way is in memory; once a minute a block with what is new is
 * appended to its file, and that is all that is written but for two files that are written anew each hour: the hour that is over, and the
 * day that takes in the hour that is a day old. What comes later for the same time replaces what was there, so that nothing has to happen
 * only once, whenever the process ends and however the clock is set: time is the place of a cell, so it cannot run backwards, and where
 * nothing was recorded there is nothing.
 *
 * Looked at before: **RRDtool** has a file for each series with all its resolutions in place; each update would rewrite pages of hundreds
 * of files a minute. **Prometheus** writes every sample into a log and again into blocks of two hours, several times as they are merged,
 * and has one resolution. **Netdata**'s tiers are what is done here, but each is written all the time, with count, sum, least and
 * greatest; here a measure knows which of them it needs, and the coarse tier is made of the fine one when that goes. **SQLite** writes
 * whole pages twice, where a minute of 20 sources takes 1.5 KB, and keeps numbers in 8 bytes.
 */

/** @typedef {import('./query.js').Answer} Answer @typedef {import('./query.js').Current} Current */

const FINE_MS = 24 * HOUR_MS
/** Steps a minute. */
const SAVED_STEPS = 60_000 / STEP_MS
export const MAX_POINTS = 2000
export const MAX_ASKED = 50

export class History {
  /** @type {Current} */
  #current = null
  /** The first step of this hour that is on no disk; null when there is none. @type {number|null} */
  #unsaved = null
  #lastSlot = -1
  /** Opened when it is first needed. @type {Promise<Folder>|undefined} */
  #opening
  /** Why it is not written to disk now. @type {string|null} */
  #problem = null
  #dropGauge
  #isBusy = false
  /** Files change under nobody who reads them. */
  #turns = new Turns(1)
  /** @type {NodeJS.Timeout|undefined} */
  #timer
  #options
  #readings

  /**
   * @param {object} options
   * @param {import('../stats/stats.js').Stats} options.stats
   * @param {() => string} options.folder
   * @param {Pick<import('../base/log.js').Log, 'info'|'warn'>} [options.log]
   * @param {() => number} [options.nowMs]  since 1970, by the machine's clock
   * @param {() => number} [options.monotonicMs]
   * @param {number} [options.maxBytes]
   */
  constructor (options) {
    this.#options = { nowMs: Date.now, monotonicMs: () => performance.now(), ...options }
    this.#readings = new Readings(options.stats, this.#options.monotonicMs)
    this.#dropGauge = options.stats.gauge('history', () => ({ problem: this.#problem }))
  }

  /** Records from now on. */
  start () {
    const run = () => {
      this.#timer = setTimeout(() => {
        this.record()
        run()
      }, STEP_MS - this.#options.nowMs() % STEP_MS)
      this.#timer.unref()
    }
    run()
  }

  /** Writes what it has. */
  async close () {
    clearTimeout(this.#timer)
    this.#dropGauge()
    this.#readings.close()
    await this.#turns.run(() => this.#save().catch(error => this.#pause(error)))
  }

  /** The step that has just ended, and those of a pause before it: of what was counted in them, none is lost. */
  async record () {
    const slot = Math.round(this.#options.nowMs() / STEP_MS) - 1
    if (slot === this.#lastSlot || this.#isBusy) return
    this.#isBusy = true
    const passed = slot - this.#lastSlot
    this.#lastSlot = slot
    try {
      const { steps, readings } = this.#readings.read(passed)
      await this.#turns.run(async () => {
        const means = readings.map(meansOf)
        for (let each = slot - steps + 1; each < slot; each++) await this.#take(each, means)
        await this.#take(slot, readings)
        if (passed < 0 || steps > 1 || (slot + 1) % SAVED_STEPS === 0) await this.#save()
      })
    } catch (error) {
      this.#pause(error)
    } finally {
      this.#isBusy = false
    }
  }

  /**
   * @param {{fromMs: number, toMs: number, points: number}} window
   * @param {string[]} keys
   * @returns {Promise<Answer>}
   * @throws {SluiceError} SLUICE_HISTORY_QUERY
   */
  async query (window, keys) {
    const all = keys.map(key => asked(key) ?? fail(`${JSON.stringify(key)} is no series.`))
    if (all.length === 0 || all.length > MAX_ASKED) fail(`A request is for 1 to ${MAX_ASKED} series.`)
    const isCount = Number.isInteger(window.points) && window.points >= 1 && window.points <= MAX_POINTS
    if (!isCount) fail(`points is a whole number from 1 to ${MAX_POINTS}.`)
    const { fromMs, toMs } = window
    if (!(fromMs >= 0 && fromMs < toMs && toMs < MAX_TIME_MS)) fail('from and to are times in ms since 1970, and from is before to.')
    const finestMs = fromMs >= this.#options.nowMs() - FINE_MS ? STEP_MS : COARSE_MS
    return this.#turns.run(async () => query(await this.#folder(), this.#current, stepsOf(window, finestMs), all))
  }

  /** What it takes on the disk, and what it has written there. */
  async usage () {
    const { bytes, writtenBytes } = await this.#folder()
    return { bytes, writtenBytes }
  }

  /** All that can be asked for. */
  list () { return this.#turns.run(async () => list(await this.#folder(), this.#current)) }

  /** @param {number} slot @param {import('./readings.js').Reading[]} readings */
  async #take (slot, readings) {
    const steps = HOUR_MS / STEP_MS
    const hour = Math.floor(slot / steps)
    if (hour !== this.#current?.hour) await this.#begin(hour)
    const step = slot - hour * steps
    this.#current?.chunk.put(step, readings)
    this.#unsaved = Math.min(this.#unsaved ?? step, step)
  }

  /** Goes to another hour: mostly the next, but the clock may be set. @param {number} hour */
  async #begin (hour) {
    const folder = await this.#folder()
    const ended = this.#current
    this.#unsaved = null
    this.#current = { hour, chunk: await loadHour(folder, hour) }
    // What was there is in memory now; where the file was damaged, it is written anew.
    if (!folder.has(`${nameOfHour(hour)}.minutes`) && this.#current.chunk.columns.size > 0) this.#unsaved = 0
    try {
      if (ended) await closeHour(folder, ended.hour, ended.chunk)
      await keepUp(folder, hour)
    } catch (error) {
      this.#pause(error)
    }
  }

  async #save () {
    if (!this.#current || this.#unsaved === null) return
    const { hour, chunk } = this.#current
    const last = this.#lastSlot - chunk.start
    const block = await encodeBlock(chunk, this.#unsaved, Math.max(last, this.#unsaved) + 1)
    await (await this.#folder()).append(hour, block)
    this.#unsaved = null
    if (this.#problem) this.#options.log?.info('The history is written to disk again.')
    this.#problem = null
  }

  /** What cannot be written stays in memory until the hour is over; said once. @param {unknown} error */
  #pause (error) {
    if (this.#problem) return
    const paused = new SluiceError('SLUICE_HISTORY_PAUSED', `The history is not written to disk: ${describe(error)}.`, {
      cause: error, fix: 'Samples are not concerned. It goes on by itself once its folder can be written.'
    })
    this.#problem = describe(paused)
    this.#options.log?.warn(this.#problem)
  }

  #folder () {
    this.#opening ??= (async () => {
      const folder = new Folder(this.#options.folder(), this.#options.log, this.#options.maxBytes)
      await folder.open()
      return folder
    })().catch(error => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }
}

/** The greatest that a Date knows. */
const MAX_TIME_MS = 8.64e15

/** @param {string} message @returns {never} */
function fail (message) {
  throw new SluiceError('SLUICE_HISTORY_QUERY', message, {
    fix: 'sluice/history/series has all series, docs/deploy.md (History) what to ask.'
  })
}
