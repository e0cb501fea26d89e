import { systemClock } from '../../clock/system-clock.js'
import { Pace } from './pace.js'

/**
 * @typedef {object} Rows  gathers the rows of one batch
 * @property {number} rows
 * @property {() => import('../../batch/batch.js').Batch} take  the batch of them; the next starts empty
 */

const TICK_MS = 50
const MAX_AGE_NS = 50_000_000n

/**
 * Plays the rows of a recording at its pace, or as fast as they are taken, round after round: at every tick the batches of what was
 * gathered. While it is paused it stands still and loses nothing.
 */
export class Player {
  #isRecorded
  #loop
  #context
  #clock
  #gathered
  #closing = new AbortController()
  #running = Promise.resolve()
  #pace
  #lastFlushNs

  /**
   * @param {{speed: number, times: string, loop: boolean}} options  speed 0: as fast as possible; times 'now': shifted so that the first
   *   row is now; others: those of the recording
   * @param {import('../source.js').SourceContext} context
   * @param {() => Iterable<Rows>} gathered  what may have rows to be sent
   */
  constructor ({ speed, times, loop }, context, gathered) {
    const clock = context.clock ?? systemClock
    this.#isRecorded = times !== 'now'
    this.#loop = loop
    this.#context = context
    this.#clock = clock
    this.#gathered = gathered
    this.#lastFlushNs = clock.nowNs()
    this.#pace = new Pace({
      speed,
      startNs: this.#lastFlushNs,
      clock,
      closing: this.#closing.signal,
      tickMs: TICK_MS,
      isPaused: () => context.isPaused()
    })
  }

  get closed () { return this.#closing.signal.aborted }

  get trouble () { return this.#pace.troubleOf('row') }

  /** Plays until it is closed, or until the last round is over or one fails: that ends the source. @param {() => Promise<void>} round */
  play (round) {
    this.#running = this.#run(round)
  }

  async close () {
    this.#closing.abort()
    await this.#running
  }

  /** The time that a row gets. @param {bigint} recordedNs  its time in the recording */
  stamp (recordedNs) {
    return this.#isRecorded ? recordedNs : this.#pace.at(recordedNs)
  }

  /** @param {bigint} recordedNs */
  isDue (recordedNs) {
    return this.#pace.isDue(recordedNs)
  }

  /** Sends what is gathered, tick by tick, until a row is due. @param {bigint} recordedNs */
  waitFor (recordedNs) {
    return this.#pace.waitFor(recordedNs, () => this.flush())
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
    await this.#pace.waitWhilePaused()
    if (!this.closed) this.#context.emit(rows.take(), { recorded: this.#isRecorded })
  }

  /** @param {number} rows  in the round that ends */
  endRound (rows) {
    this.#pace.endRound(rows)
  }

  /** @param {() => Promise<void>} round */
  async #run (round) {
    let failure
    try {
      do await round()
      while (this.#loop && !this.closed)
    } catch (error) {
      failure = error
    }
    if (!this.closed) this.#context.onEnd(failure)
  }
}
