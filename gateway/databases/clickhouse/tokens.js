import { createHash, randomBytes } from 'node:crypto'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

/**
 * Tokens by which a server recognises a repeated insert. The same batches have the same token until they are stored, and another one when
 * they come later: what looks like an earlier insert, but is not a repetition of it, must never be left out.
 */
export class Tokens {
  /** @type {WeakMap<Batch, Buffer>} */
  #secrets = new WeakMap()

  /** @param {Batch[]} batches  of one insert */
  of (batches) {
    const hash = createHash('sha256')
    for (const batch of batches) {
      const secret = this.#secrets.get(batch) ?? randomBytes(16)
      this.#secrets.set(batch, secret)
      hash.update(secret)
    }
    return hash.digest('hex')
  }

  /** @param {Batch[]} batches */
  drop (batches) {
    for (const batch of batches) this.#secrets.delete(batch)
  }
}
