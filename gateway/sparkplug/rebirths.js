/**
 * When a rebirth of a node may be requested: at once, again after 10 s, then after doubling pauses of up to ten minutes, until it is born.
 */

const FIRST_PAUSE_MS = 10_000
const MAX_PAUSE_MS = 600_000
const MAX_NODES = 10_000

export class Rebirths {
  /** @type {Map<string, {nextMs: number, pauseMs: number}>} */
  #asked = new Map()

  /** @param {string} node @param {number} nowMs @returns {boolean} whether to request one now */
  isDue (node, nowMs) {
    const { nextMs, pauseMs } = this.#asked.get(node) ?? { nextMs: nowMs, pauseMs: FIRST_PAUSE_MS }
    if (nowMs < nextMs) return false
    this.#asked.delete(node)
    if (this.#asked.size === MAX_NODES) this.#asked.delete(this.#asked.keys().next().value ?? '')
    this.#asked.set(node, { nextMs: nowMs + pauseMs, pauseMs: Math.min(2 * pauseMs, MAX_PAUSE_MS) })
    return true
  }

  /** @param {string} node */
  born (node) {
    this.#asked.delete(node)
  }
}
