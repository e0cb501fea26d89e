import { EventEmitter } from 'node:events'

/**
 * Backpressure inside a flow, where messages cannot carry it: what is full holds the sources that feed it, by their ids, and a held
 * source waits (a replay) or skips and counts (a simulator). One for the process.
 */
class Backpressure extends EventEmitter {
  /** @type {Map<string, Set<string>>} source id → who holds it */
  #holders = new Map()

  /** @param {string} sourceId */
  isPaused (sourceId) {
    return this.#holders.has(sourceId)
  }

  /** @param {string} sourceId @param {string} holder */
  pause (sourceId, holder) {
    const holders = this.#holders.get(sourceId) ?? new Set()
    this.#holders.set(sourceId, holders.add(holder))
  }

  /** @param {string} sourceId @param {string} holder */
  resume (sourceId, holder) {
    const holders = this.#holders.get(sourceId)
    if (!holders?.delete(holder) || holders.size > 0) return
    this.#holders.delete(sourceId)
    this.emit('open', sourceId)
  }
}

export const backpressure = new Backpressure()
