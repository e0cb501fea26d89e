import { batchBytes } from '../batch/batch-bytes.js'
import { unsynchronised } from '../clock/restamper.js'
import { systemClock, wallClock } from '../clock/system-clock.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {{batches: Batch[], refused: import('./payload.js').Refused[]}} Converted
 */

/**
 * Reads messages; rows that are stamped with the present time wait until it is known whether the machine's clock is set, and are marked
 * where it is not.
 */
export class Marker {
  #clock
  #sourceNs
  #maxBytes
  #waitingBytes = 0
  #released = Promise.withResolvers()

  /**
   * @param {import('../clock/wall-clock.js').WallClock} clock
   * @param {() => bigint} sourceNs  what sources stamp by
   * @param {{maxBytes?: number}} [options]  of what waits; with more, all goes on
   */
  constructor (clock, sourceNs, { maxBytes = 2 ** 24 } = {}) {
    this.#clock = clock
    this.#sourceNs = sourceNs
    this.#maxBytes = maxBytes
  }

  /**
   * At once where nothing has to wait.
   * @param {(now: () => bigint) => Converted} read  may be called again, with the time at which it was called first
   * @returns {Converted|Promise<Converted>}
   */
  read (read) {
    /** @type {bigint|undefined} */
    let stampedNs
    const converted = read(() => {
      const ns = this.#sourceNs()
      stampedNs ??= ns
      return this.#clock.line.at(ns)
    })
    if (stampedNs === undefined) return converted
    if (this.#clock.isJudged) return this.#clock.isWrong ? marked(converted) : converted
    return this.#judged(converted, stampedNs, read)
  }

  /** @param {Converted} converted @param {bigint} stampedNs @param {(now: () => bigint) => Converted} read */
  async #judged (converted, stampedNs, read) {
    const correctionNs = this.#clock.line.correctionAt(stampedNs)
    await this.#verdict(converted.batches)
    const { isWrong, line } = this.#clock
    if (isWrong) return marked(converted)
    return line.correctionAt(stampedNs) === correctionNs ? converted : read(() => line.at(stampedNs))
  }

  /** What waits goes on as it is: where it goes to is about to close. */
  release () {
    this.#released.resolve(undefined)
    this.#released = Promise.withResolvers()
  }

  /** @param {Batch[]} batches */
  async #verdict (batches) {
    const bytes = batches.reduce((sum, batch) => sum + batchBytes(batch), 0)
    const released = this.#released.promise
    this.#waitingBytes += bytes
    if (this.#waitingBytes > this.#maxBytes) this.release()
    await Promise.race([this.#clock.judged, released])
    this.#waitingBytes -= bytes
  }
}

/** @param {Converted} converted @returns {Converted} */
function marked (converted) {
  return { ...converted, batches: converted.batches.map(unsynchronised) }
}

export const marker = new Marker(wallClock, systemClock.nowNs)
