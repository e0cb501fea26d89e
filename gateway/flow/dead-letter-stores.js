import { EventEmitter } from 'node:events'

/**
 * @typedef {Awaited<ReturnType<typeof import('../writer/dead-letters.js').openDeadLetters>>} DeadLetters
 */

/** The dead letters of the sinks that run in this process, by the sink's name. Event: `added` (name, store). */
class DeadLetterStores extends EventEmitter {
  /** @type {Map<string, DeadLetters>} */
  #stores = new Map()

  /**
   * @param {string} sink
   * @param {DeadLetters} store  open; whoever opened it closes it
   * @returns {() => void} removes it
   */
  add (sink, store) {
    this.#stores.set(sink, store)
    this.emit('added', sink, store)
    return () => {
      if (this.#stores.get(sink) === store) this.#stores.delete(sink)
    }
  }

  /** @param {string} sink */
  get (sink) {
    return this.#stores.get(sink)
  }

  [Symbol.iterator] () { return this.#stores[Symbol.iterator]() }
}

export const stores = new DeadLetterStores()
stores.setMaxListeners(0)
