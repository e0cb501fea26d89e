import { EventEmitter } from 'node:events'
import { SluiceError } from '../base/errors.js'

/** @typedef {import('../../broker/in/contract.js').SinkHandle} SinkHandle */

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
