import { EventEmitter } from 'node:events'
import { SluiceError } from '../errors.js'

/**
 * A running sink as the staging side sees it.
 * @typedef {object} SinkHandle
 * @property {string} name
 * @property {() => Promise<import('../sinks/sink.js').Committed[]>} committed
 * @property {(batch: import('../batch/batch.js').Batch) => Promise<unknown>} write  resolves once the database has committed it
 * @property {(heads: import('../sinks/sink.js').Head[]) => Promise<void>} compact
 */

/**
 * The sinks that run in this process, by name. Events: `added` (handle), `removed` (name).
 */
export class SinkRegistry extends EventEmitter {
  /** @type {Map<string, SinkHandle>} */
  #sinks = new Map()

  /**
   * @param {SinkHandle} handle
   * @returns {() => void} removes it
   */
  add (handle) {
    if (this.#sinks.has(handle.name)) {
      throw new SluiceError('SLUICE_SINK_NAME', `Two sinks are named "${handle.name}".`, { fix: 'Its name is how a spool knows what a sink has stored: give each its own.' })
    }
    this.#sinks.set(handle.name, handle)
    this.emit('added', handle)
    return () => {
      if (this.#sinks.get(handle.name) !== handle) return
      this.#sinks.delete(handle.name)
      this.emit('removed', handle.name)
    }
  }

  /** @param {string} name */
  get (name) {
    return this.#sinks.get(name)
  }
}

export const sinks = new SinkRegistry()
sinks.setMaxListeners(0)
