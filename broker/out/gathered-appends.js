import { byInterval } from '../../gateway/batch/intervals.js'
import { apart, Gathering } from './gathering.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {{resolve: (stored: unknown) => void, reject: (error: unknown) => void}} Waiting
 *
 * @typedef {object} Storing
 * @property {(batch: Batch) => Promise<unknown>} append  to the spool, which takes what it is given in order
 * @property {bigint} [intervalNs]  intervals of this length are appended whole: rows wait for one of another interval
 * @property {boolean} [isAllOrNone]  what fails may be there in part: nobody tries it again in pieces
 * @typedef {Omit<import('./gathering.js').GatheringOptions<Waiting>, 'store'> & Storing} Options
 */

/** Batches that gather in front of the spool, and whoever waits until they are in it. */
export class GatheredAppends {
  #gathering
  #options

  /** @param {Options} options */
  constructor (options) {
    this.#options = options
    this.#gathering = new Gathering({ ...options, store: gathered => { this.#store(gathered) } })
  }

  /**
   * A message is under way, whose sender may wait for it to be done.
   * @template T
   * @param {() => Promise<T>} work
   */
  async message (work) {
    if (this.#options.intervalNs) return work() // which waits for the interval's end, whoever waits for it
    this.#gathering.begin()
    try {
      return await work()
    } finally {
      this.#gathering.end()
    }
  }

  /**
   * Resolves once the spool has all of it.
   * @param {Batch} batch
   */
  append (batch) {
    const { intervalNs } = this.#options
    const take = (/** @type {Batch} */ part, /** @type {bigint|undefined} */ start = undefined) => {
      return new Promise((resolve, reject) => { this.#gathering.take(part, { resolve, reject }, start) })
    }
    return intervalNs ? Promise.all(byInterval(batch, intervalNs).map(({ part, start }) => take(part, start))) : take(batch)
  }

  /** What waits goes into the spool now. */
  flush () { this.#gathering.flush() }

  /** @param {import('./gathering.js').Gathered<Waiting>} gathered */
  async #store (gathered) {
    const { batch, guests } = gathered
    try {
      const stored = await this.#options.append(batch)
      for (const { resolve } of guests) resolve(stored)
    } catch (error) {
      if (guests.length === 1 || this.#options.isAllOrNone) return guests.forEach(({ reject }) => reject(error))
      // One that the spool does not accept must not cost the others.
      await Promise.all(apart(gathered).map(each => this.#store(each)))
    }
  }
}
