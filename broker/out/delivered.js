import { keyOf } from './restaging.js'

/**
 * @typedef {import('./restaging.js').Name} Batch
 * @typedef {import('../control-messages.js').Commit} Commit
 */

const MAX_ACKNOWLEDGED = 1000

/** The largest messages that are known to have arrived at each consumer: as large as those may pass, so nothing in them is too big. */
export class Delivered {
  /** Acknowledged by the broker, and not known to be stored. @type {Map<string, {batch: Batch, bytes: number}>} */
  #acknowledged = new Map()
  /** @type {Map<string, number>} by consumer, as a level */
  #bytes = new Map()

  /** @param {Batch} batch @param {number} bytes */
  acknowledged (batch, bytes) {
    if (this.#acknowledged.size < MAX_ACKNOWLEDGED) this.#acknowledged.set(keyOf(batch), { batch, bytes })
  }

  /** A consumer has stored these. @param {string} consumer  as a level @param {Commit['sources']} sources */
  stored (consumer, sources) {
    const isFull = this.#acknowledged.size >= MAX_ACKNOWLEDGED
    let largest = this.of(consumer)
    for (const [key, { batch: { source, epoch, seq }, bytes }] of this.#acknowledged) {
      if (!sources[source]?.[epoch]?.some(([first, last]) => seq >= first && seq <= last)) continue
      largest = Math.max(largest, bytes)
      this.#acknowledged.delete(key)
    }
    this.#bytes.set(consumer, largest)
    if (isFull && this.#acknowledged.size >= MAX_ACKNOWLEDGED) this.#acknowledged.clear() // of what is gone meanwhile
  }

  /** @param {string} consumer  as a level */
  of (consumer) { return this.#bytes.get(consumer) ?? 0 }
}
