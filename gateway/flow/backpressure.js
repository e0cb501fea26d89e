import { EventEmitter } from 'node:events'

/**
 * Backpressure inside a flow, where messages cannot carry it: what is full pauses the sources that feed it, by their ids, and a paused
 * source waits (a player) or skips and counts (a simulator). One for the process.
 */
class Backpressure extends EventEmitter {
  /** @type {Map<string, Set<string>>} source id → who has paused it */
  #pausers = new Map()

  /** @param {string} sourceId */
  isPaused (sourceId) {
    return this.#pausers.has(sourceId)
  }

  /** @param {string} sourceId @param {string} by */
  pause (sourceId, by) {
    const pausers = this.#pausers.get(sourceId) ?? new Set()
    this.#pausers.set(sourceId, pausers.add(by))
  }

  /** @param {string} sourceId @param {string} by */
  resume (sourceId, by) {
    const pausers = this.#pausers.get(sourceId)
    if (!pausers?.delete(by) || pausers.size > 0) return
    this.#pausers.delete(sourceId)
    this.emit('open', sourceId)
  }
}

export const backpressure = new Backpressure()
