import { systemClock } from '../../clock/system-clock.js'
import { Playback } from './pace.js'

/**
 * @typedef {object} Rows  gathers the rows of one batch
 * @property {number} rows
 * @property {() => import('../../batch/batch.js').Batch} take  them, which are forgotten there
 */

const TICK_MS = 50
const MAX_AGE_NS = 50_000_000n
const MAX_SLEEP_MS = 1000
const NS_PER_DAY = 86_400_000_000_000n

/**
 * Plays the rows of a log at its pace, or as fast as they are taken: a batch per tick of what was gathered. While it is held it stands
 * still and loses nothing.
 */
export class Player {
  #speed
  #isRecorded
  #context
  #clock
  #closing
  #playback
  #gathered
  #lastFlushNs
  #dueNs = 0n

  /**
   * @param {{speed: number, times: string}} options  speed 0: as fast as possible; times 'now': shifted so that the first row is now;
   *   others: those of the log
   * @param {import('../source.js').SourceContext} context
   * @param {AbortSignal} closing
   * @param {() => Iterable<Rows>} gathered  what has rows to be sent
   */
  constructor ({ speed, times }, context, closing, gathered) {
    this.#speed = speed
    this.#isRecorded = times !== 'now'
    this.#context = context
    this.#clock = context.clock ?? systemClock
    this.#closing = closing
    this.#gathered = gathered
    this.#lastFlushNs = this.#clock.nowNs()
    this.#playback = new Playback(speed, this.#lastFlushNs)
  }

  /** The time that a row gets. @param {bigint} logNs  its time in the log */
  stamp (logNs) {
    return this.#isRecorded ? logNs : this.#playback.at(logNs)
  }

  /** @param {bigint} logNs */
  isDue (logNs) {
    return this.#speed === 0 || this.#playback.at(logNs) <= this.#clock.nowNs()
  }

  /** Sends what is gathered, tick by tick, until a row is due. @param {bigint} logNs */
  async waitFor (logNs) {
    while (!this.#closing.aborted) {
      this.#dueNs = this.#playback.at(logNs)
      const waitNs = this.#dueNs - this.#clock.nowNs()
      if (waitNs <= 0n) return
      await this.flush()
      await this.#clock.sleep(Math.min(Math.max(Number(waitNs) / 1e6, TICK_MS), MAX_SLEEP_MS), this.#closing)
    }
  }

  /** Where the times of a log jump, as when the clock of its machine was set, nothing may come for years. */
  get trouble () {
    const days = (this.#dueNs - this.#clock.nowNs()) / NS_PER_DAY
    return days > 0n ? `the times jump: the next row plays in ${days} ${days === 1n ? 'day' : 'days'}` : undefined
  }

  /** Sends what is gathered, if the last time is a tick ago. */
  async flushOld () {
    if (this.#clock.nowNs() - this.#lastFlushNs >= MAX_AGE_NS) await this.flush()
  }

  async flush () {
    this.#lastFlushNs = this.#clock.nowNs()
    for (const rows of this.#gathered()) if (rows.rows > 0) await this.send(rows)
  }

  /** @param {Rows} rows */
  async send (rows) {
    if (this.#context.held()) await this.#waitForRelease()
    if (!this.#closing.aborted) this.#context.emit(rows.take(), { recorded: this.#isRecorded })
  }

  /** @param {number} rows  in the round that ends */
  endRound (rows) {
    this.#playback.endRound(rows)
  }

  /** Playback stands still meanwhile: what waits does not come in a burst. */
  async #waitForRelease () {
    const heldNs = this.#clock.nowNs()
    do await this.#clock.sleep(TICK_MS, this.#closing)
    while (this.#context.held() && !this.#closing.aborted)
    if (this.#speed > 0) this.#playback.pause(this.#clock.nowNs() - heldNs)
  }
}
