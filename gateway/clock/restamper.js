import { Batch } from '../batch/batch.js'
import { batchBytes } from '../batch/batch-bytes.js'

/** The tag of samples whose time was never checked against a clock that was set. */
export const CLOCK_TAG = 'clock'
export const UNSYNCHRONISED = 'unsynchronised'

/** Samples that were stamped while the clock was not set. @param {Batch} batch */
export function unsynchronised (batch) {
  return new Batch({ ...batch, tags: { ...batch.tags, [CLOCK_TAG]: UNSYNCHRONISED } })
}

/** Samples whose corrected time is further from the wall clock's are marked. */
const TOLERANCE_NS = 1_000_000_000n

/**
 * Stands behind a source: holds its samples while the machine's clock is not set, and gives each the time it had by the wall clock. Those
 * that can wait no longer are sent on with the tag `clock` = `unsynchronised`. The order stays.
 */
export class Restamper {
  #clock
  #emit
  #maxBytes
  /** @type {Batch[]} */
  #held = []
  #heldBytes = 0
  #stopWaiting

  /**
   * @param {import('./wall-clock.js').WallClock} clock
   * @param {(batch: Batch) => void} emit
   * @param {{maxBytes?: number}} [options]  of the samples that wait; with more, all are sent on
   */
  constructor (clock, emit, { maxBytes = 2 ** 24 } = {}) {
    this.#clock = clock
    this.#emit = emit
    this.#maxBytes = maxBytes
    this.#stopWaiting = clock.whenSettled(() => this.release())
  }

  /** How many samples wait. */
  get heldRows () {
    return this.#held.reduce((rows, batch) => rows + batch.rows, 0)
  }

  /** @param {Batch} batch  stamped by the sources' clock */
  take (batch) {
    if (this.#clock.state !== 'waiting') return this.#emit(this.#stamped(batch))
    this.#held.push(batch)
    this.#heldBytes += batchBytes(batch)
    if (this.#heldBytes > this.#maxBytes) this.release()
  }

  /** Sends on what waits; nothing waits any longer. */
  close () {
    this.#stopWaiting()
    this.release()
  }

  /** Sends on what waits. */
  release () {
    const held = this.#held
    this.#held = []
    this.#heldBytes = 0
    for (const batch of held) this.#emit(this.#stamped(batch))
  }

  /** @param {Batch} batch */
  #stamped (batch) {
    const { line, state } = this.#clock
    const { time, rows } = batch
    if (rows === 0) return batch
    const last = time[rows - 1]
    const isTrue = state === 'set' && line.aheadAt(last) < TOLERANCE_NS
    const isRight = line.correctionAt(time[0]) === 0n && line.correctionAt(last) === 0n
    if (isTrue && isRight) return batch
    const stamped = isRight ? batch : new Batch({ ...batch, time: time.map(ns => line.at(ns)) })
    return isTrue ? stamped : unsynchronised(stamped)
  }
}
