import { EventEmitter } from 'node:events'

/**
 * @typedef {import('../writer/dead-letters.js').DeadLetters} DeadLetters
 */

/** The dead letters of the sinks that run in this process, by the sink's name. Events: `added` and `removed` (name, store). */
class DeadLetterStores extends EventEmitter {
  /** @type {Map<string, DeadLetters>} */
  #stores = new Map()

  /**
   * @param {string} sink
   * @param {DeadLetters} store  open; who opened it closes it, after taking it away here
   * @returns {() => void} takes it away
   */
  add (sink, store) {
    this.#stores.set(sink, store)
    this.emit('added', sink, store)
    return () => {
      if (this.#stores.get(sink) !== store) return
      this.#stores.delete(sink)
      this.emit('removed', sink, store)
    }
  }

  [Symbol.iterator] () { return this.#stores[Symbol.iterator]() }
}

export const stores = new DeadLetterStores()
stores.setMaxListeners(0)
