/**
 * The payloads a spool has accepted and not given to its publisher, in memory: one that keeps up never reads the disk.
 */
export class Recent {
  /** @type {Map<number, Uint8Array>} in order of seq */
  #payloads = new Map()
  #bytes = 0

  /** @param {number} [maxBytes] */
  constructor (maxBytes = 2 ** 20) {
    this.maxBytes = maxBytes
  }

  /** @param {number} seq @param {Uint8Array} payload */
  add (seq, payload) {
    this.#payloads.set(seq, payload)
    this.#bytes += payload.length
    for (const oldest of this.#payloads.keys()) {
      if (this.#bytes <= this.maxBytes) break
      this.take(oldest)
    }
  }

  /** Given once: who wants it again reads the disk. @param {number} seq */
  take (seq) {
    const payload = this.#payloads.get(seq)
    if (payload) {
      this.#payloads.delete(seq)
      this.#bytes -= payload.length
    }
    return payload
  }
}
