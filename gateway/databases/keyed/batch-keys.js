import { createHash, randomBytes } from 'node:crypto'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

export const BATCH_KEY_BYTES = 16
const SEQ_BYTES = 6

/** Names batches, for the keys of their rows. */
export class BatchKeys {
  /** @type {WeakMap<Batch, Buffer>} of batches without identity: one batch keeps its key for all attempts of this process */
  #random = new WeakMap()

  /**
   * 10 bytes for the epoch, 6 for seq. Another batch under the same identity has another hash.
   * @param {Batch} batch
   * @param {unknown[]} [more]  what else tells rows apart
   */
  of (batch, more = []) {
    const { identity, origin } = batch
    if (identity) {
      const { gateway, source, epoch, seq, hash = 0 } = identity
      const key = createHash('sha256').update(JSON.stringify([gateway, source, epoch, hash, ...more])).digest().subarray(0, BATCH_KEY_BYTES)
      key.writeUIntBE(seq, BATCH_KEY_BYTES - SEQ_BYTES, SEQ_BYTES)
      return key
    }
    const whole = origin?.whole ?? batch
    const key = this.#random.get(whole) ?? randomBytes(BATCH_KEY_BYTES)
    this.#random.set(whole, key)
    return key
  }
}
