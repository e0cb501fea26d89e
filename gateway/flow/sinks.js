import { EventEmitter } from 'node:events'
import { SluiceError } from '../base/errors.js'

/** @typedef {import('../../broker/in/contract.js').SinkHandle} SinkHandle */

/**
 * The sinks that run in this process, by name. Events: `added` (handle), `removed` (name).
 *
 * A name belongs to one sink from its beginning until it has drained: a sink that replaces another finds its dead letters closed.
 */
export class SinkRegistry extends EventEmitter {
  /** @type {Map<string, SinkHandle>} */
  #sinks = new Map()
  /** Names in use; `drained` is null until the sink is closing. @type {Map<string, {drained: Promise<unknown>|null}>} */
  #names = new Map()

  /**
   * Claims a name for a sink that begins.
   * @param {string} name
   * @returns {{free: Promise<unknown>, closing: (drained: Promise<unknown>) => void}} `free` resolves once the sink that had the name
   *   has drained; `closing` is to be called when this one closes
   * @throws {SluiceError} SLUICE_SINK_NAME when another sink has the name and is not closing
   */
  claim (name) {
    const before = this.#names.get(name)
    if (before && before.drained === null) {
      throw new SluiceError('SLUICE_SINK_NAME', `Two sinks are named "${name}".`, {
        fix: 'Its name is how a spool knows what a sink has stored: give each its own.'
      })
    }
    /** @type {{drained: Promise<unknown>|null}} */
    const claim = { drained: null }
    this.#names.set(name, claim)
    return {
      free: before?.drained ?? Promise.resolve(),
      closing: drained => {
        claim.drained = drained.catch(() => {}).then(() => {
          if (this.#names.get(name) === claim) this.#names.delete(name)
        })
      }
    }
  }

  /**
   * @param {SinkHandle} handle
   * @returns {() => void} removes it
   */
  add (handle) {
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
