import { EventEmitter } from 'node:events'

/**
 * @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue
 */

/** The dead letters of the sinks that run in this process, by the sink's name. Events: `added` and `removed` (name, store). */
class OpenQueues extends EventEmitter {
  /** @type {Map<string, DeadLetterQueue>} */
  #queues = new Map()

  /**
   * @param {string} sink
   * @param {DeadLetterQueue} store  open; who opened it closes it, after taking it away here
   * @returns {() => void} takes it away
   */
  add (sink, store) {
    this.#queues.set(sink, store)
    this.emit('added', sink, store)
    return () => {
      if (this.#queues.get(sink) !== store) return
      this.#queues.delete(sink)
      this.emit('removed', sink, store)
    }
  }

  [Symbol.iterator] () { return this.#queues[Symbol.iterator]() }
}

export const openQueues = new OpenQueues()
openQueues.setMaxListeners(0)
