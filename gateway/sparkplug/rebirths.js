import { backoff } from '../base/backoff.js'

/**
 * When a rebirth of a node may be requested: at once, again after 10 s, then after doubling pauses of up to ten minutes, until it is born.
 */

const PAUSE_MS = { first: 10_000, max: 600_000 }
const MAX_NODES = 10_000

export class Rebirths {
  /** @type {Map<string, {nextMs: number, attempt: number}>} */
  #asked = new Map()

  /** @param {string} node @param {number} nowMs @returns {boolean} whether to request one now */
  isDue (node, nowMs) {
    const { nextMs, attempt } = this.#asked.get(node) ?? { nextMs: nowMs, attempt: 0 }
    if (nowMs < nextMs) return false
    this.#asked.delete(node)
    if (this.#asked.size === MAX_NODES) this.#asked.delete(this.#asked.keys().next().value ?? '')
    this.#asked.set(node, { nextMs: nowMs + backoff(attempt, PAUSE_MS), attempt: attempt + 1 })
    return true
  }

  /** @param {string} node */
  born (node) {
    this.#asked.delete(node)
  }
}
