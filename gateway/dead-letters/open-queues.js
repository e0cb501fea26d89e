import { EventEmitter } from 'node:events'
import { deadLettersFolder, openDeadLetterQueue } from './queue.js'

/** @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue */

/** The dead letter queues that are open in this process, by the sink's name. Events: `added` and `removed` (name, queue). */
class OpenQueues extends EventEmitter {
  /** @type {Map<string, DeadLetterQueue>} */
  #queues = new Map()

  /**
   * @param {string} sink
   * @param {DeadLetterQueue} queue
   * @returns {() => void} removes it
   */
  add (sink, queue) {
    this.#queues.set(sink, queue)
    this.emit('added', sink, queue)
    return () => {
      if (this.#queues.get(sink) !== queue) return
      this.#queues.delete(sink)
      this.emit('removed', sink, queue)
    }
  }

  [Symbol.iterator] () { return this.#queues[Symbol.iterator]() }
}

export const openQueues = new OpenQueues()
openQueues.setMaxListeners(0)

/**
 * Opens the dead letter queue of a sink, and lists it among those that are open.
 * @param {string} userDir
 * @param {string} sink
 * @param {import('../base/log.js').Log} log
 * @returns {Promise<{queue: DeadLetterQueue, close: () => Promise<void>}>}
 */
export async function openQueue (userDir, sink, log) {
  const queue = await openDeadLetterQueue(deadLettersFolder(userDir, sink), { log })
  const remove = openQueues.add(sink, queue)
  return {
    queue,
    close () {
      remove()
      return queue.close()
    }
  }
}
