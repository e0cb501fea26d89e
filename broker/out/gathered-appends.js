import { apart, Gathering } from './gathering.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {{resolve: (stored: unknown) => void, reject: (error: unknown) => void}} Waiting
 *
 * @typedef {Omit<import('./gathering.js').GatheringOptions<Waiting>, 'store'> & {append: (batch: Batch) => Promise<unknown>}} Options
 *   `append`: to the spool, which takes what it is given in order
 */

/** Batches that gather in front of the spool, and whoever waits until they are in it. */
export class GatheredAppends {
  #gathering
  #append

  /** @param {Options} options */
  constructor ({ append, ...options }) {
    this.#append = append
    this.#gathering = new Gathering({ ...options, store: gathered => { this.#store(gathered) } })
  }

  /**
   * A message is under way, whose sender may wait for it to be done.
   * @template T
   * @param {() => Promise<T>} work
   */
  async message (work) {
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
    return new Promise((resolve, reject) => { this.#gathering.take(batch, { resolve, reject }) })
  }

  /** What waits goes into the spool now. */
  flush () { this.#gathering.flush() }

  /** @param {import('./gathering.js').Gathered<Waiting>} gathered */
  async #store (gathered) {
    const { batch, guests } = gathered
    try {
      const stored = await this.#append(batch)
      for (const { resolve } of guests) resolve(stored)
    } catch (error) {
      if (guests.length === 1) return guests[0].reject(error)
      // One that the spool does not accept must not cost the others.
      await Promise.all(apart(gathered).map(each => this.#store(each)))
    }
  }
}
