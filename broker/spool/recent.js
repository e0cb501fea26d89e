/**
 * The newest payloads of a spool, in memory: a publisher that keeps up never reads the disk.
 */
export class Recent {
  /** @type {Map<number, Uint8Array>} in order of seq */
  #payloads = new Map()
  #bytes = 0

  /** @param {number} [maxBytes] */
  constructor (maxBytes = 2 ** 22) {
    this.maxBytes = maxBytes
  }

  /** @param {number} seq @param {Uint8Array} payload */
  add (seq, payload) {
    this.#payloads.set(seq, payload)
    this.#bytes += payload.length
    for (const [oldest, { length }] of this.#payloads) {
      if (this.#bytes <= this.maxBytes) break
      this.#payloads.delete(oldest)
      this.#bytes -= length
    }
  }

  /** @param {number} seq */
  get (seq) {
    return this.#payloads.get(seq)
  }
}
