/** @typedef {import('../batch/batch.js').Batch} Batch */

/** Free slots at the front of the list are removed once there are this many, and at least as many as batches. */
const MAX_FREE_SLOTS = 1000

/** Batches that wait to be sent, up to a number of values: the oldest are dropped for new ones, and counted. */
export class HeldBatches {
  values = 0
  droppedValues = 0
  /** @type {(Batch|null)[]} */
  #batches = []
  #first = 0
  #maxValues

  /** @param {number} maxValues */
  constructor (maxValues) {
    this.#maxValues = maxValues
  }

  /** @param {Batch} batch */
  add (batch) {
    const fitting = Math.min(batch.rows, Math.floor(this.#maxValues / batch.fields.length))
    this.droppedValues += (batch.rows - fitting) * batch.fields.length
    if (fitting === 0) return
    const kept = fitting === batch.rows ? batch : batch.slice(batch.rows - fitting, batch.rows)
    this.values += kept.values
    this.#batches.push(kept)
    while (this.values > this.#maxValues) this.droppedValues += this.take()?.values ?? 0
  }

  /** The oldest. @returns {Batch|null} */
  take () {
    const batch = this.#batches[this.#first] ?? null
    if (!batch) return null
    this.#batches[this.#first++] = null
    if (this.#first >= MAX_FREE_SLOTS && this.#first * 2 >= this.#batches.length) {
      this.#batches = this.#batches.slice(this.#first)
      this.#first = 0
    }
    this.values -= batch.values
    return batch
  }

  /** The rest of what was taken last. @param {Batch} batch */
  putBack (batch) {
    this.values += batch.values
    if (this.#first > 0) this.#batches[--this.#first] = batch
    else this.#batches.unshift(batch)
  }
}
