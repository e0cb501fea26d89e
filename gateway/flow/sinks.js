import { EventEmitter } from 'node:events'

/**
 * @typedef {import('../../broker/in/contract.js').SinkHandle} SinkHandle
 * @typedef {import('../databases/sink.js').Committed} Committed
 * @typedef {{id: string, label: string}} HoldingUp
 */

/** Long enough for a deploy: a stage in that it brings back is told, too. */
const LAST_READING_MS = 60_000

/**
 * The sinks that run in this process, by the ids of their nodes. Events: `added` (handle), `removed` (id); `leaving` (id): its last reading
 * has begun; `setBack` (id): its database lacks what it had committed.
 *
 * An id belongs to one sink from its beginning until it has drained: a sink that replaces another finds its dead letters closed.
 */
export class SinkRegistry extends EventEmitter {
  /** @type {Map<string, SinkHandle>} */
  #sinks = new Map()
  /** Resolves once the sink that had the id last has drained. @type {Map<string, Promise<unknown>>} */
  #drained = new Map()
  /** What those had stored that have gone lately. @type {Map<string, Promise<Committed>>} */
  #lastReadings = new Map()
  /** What goes to several sinks waits for some of them: by the stage in. @type {Map<string, {ids: string[], by: HoldingUp[]}>} */
  #heldUp = new Map()

  /** Resolves once no earlier sink has the id. @param {string} id @returns {Promise<unknown>} */
  free (id) {
    return this.#drained.get(id) ?? Promise.resolve()
  }

  /** The sink that has the id is closing. @param {string} id @param {Promise<unknown>} drained */
  closing (id, drained) {
    const done = drained.catch(() => {}).then(() => {
      if (this.#drained.get(id) === done) this.#drained.delete(id)
    })
    this.#drained.set(id, done)
  }

  /**
   * @param {SinkHandle} handle
   * @returns {() => void} removes it
   */
  add (handle) {
    this.#sinks.set(handle.id, handle)
    this.#lastReadings.delete(handle.id)
    this.emit('added', handle)
    return () => {
      if (this.#sinks.get(handle.id) !== handle) return
      this.#sinks.delete(handle.id)
      this.emit('removed', handle.id)
    }
  }

  /** @param {string} id */
  get (id) {
    return this.#sinks.get(id)
  }

  /**
   * A sink that was removed has written all that it will.
   * @param {string} id
   * @param {Promise<Committed>} reading  of what it has stored
   */
  leaving (id, reading) {
    reading.catch(() => {})
    this.#lastReadings.set(id, reading)
    setTimeout(() => { if (this.lastReading(id) === reading) this.#lastReadings.delete(id) }, LAST_READING_MS).unref()
    this.emit('leaving', id)
  }

  /** @param {string} id */
  lastReading (id) { return this.#lastReadings.get(id) }

  /** @param {string} stageIn @param {string[]} ids  of the sinks behind it @param {HoldingUp[]} by  those that the others wait for */
  holdUp (stageIn, ids, by) {
    if (by.length > 0) this.#heldUp.set(stageIn, { ids, by })
    else this.#heldUp.delete(stageIn)
  }

  /** The names of those that a sink waits for. @param {string} id @returns {string[]} */
  heldUpBy (id) {
    const its = [...this.#heldUp.values()].filter(({ ids, by }) => ids.includes(id) && !by.some(other => other.id === id))
    return [...new Set(its.flatMap(({ by }) => by.map(({ label }) => label)))]
  }

  /** By what its dead letters are called. @param {string} name */
  named (name) {
    return [...this.#sinks.values()].find(sink => sink.name === name)
  }
}

export const sinks = new SinkRegistry()
sinks.setMaxListeners(0)
