import { EventEmitter } from 'node:events'
import { deadLettersFolder, openDeadLetterQueue } from './queue.js'

/** @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue */

/**
 * The dead letter queues that are open in this process, by the sink's name as people read it. Events: `added` and `removed` (name, queue).
 */
class OpenQueues extends EventEmitter {
  /** @type {Map<string, DeadLetterQueue>} */
  #queues = new Map()
  /** What the folders are called. @type {WeakMap<DeadLetterQueue, string>} */
  #keys = new WeakMap()

  /**
   * @param {string} sink
   * @param {DeadLetterQueue} queue
   * @param {string} [key]  what its folder is called
   * @returns {() => void} removes it
   */
  add (sink, queue, key = sink) {
    this.#queues.set(sink, queue)
    this.#keys.set(queue, key)
    this.emit('added', sink, queue)
    return () => {
      if (this.#queues.get(sink) !== queue) return
      this.#queues.delete(sink)
      this.emit('removed', sink, queue)
    }
  }

  /** As people read it, of a sink that a flow or a person may know by its folder. @param {string} sink */
  nameOf (sink) {
    if (this.#queues.has(sink)) return sink
    return [...this.#queues].find(([, queue]) => this.#keys.get(queue) === sink)?.[0] ?? sink
  }

  [Symbol.iterator] () { return this.#queues[Symbol.iterator]() }
}

export const openQueues = new OpenQueues()
openQueues.setMaxListeners(0)

/**
 * Opens the dead letter queue of a sink, and lists it among those that are open.
 * @param {string} userDir
 * @param {{key: string, name: string}} sink  what its folder is called, and how people read it
 * @param {import('../base/log.js').Log} log
 * @returns {Promise<{queue: DeadLetterQueue, close: () => Promise<void>}>}
 */
export async function openQueue (userDir, { key, name }, log) {
  const queue = await openDeadLetterQueue(deadLettersFolder(userDir, key), { log })
  const remove = openQueues.add(name, queue, key)
  return {
    queue,
    close () {
      remove()
      return queue.close()
    }
  }
}
