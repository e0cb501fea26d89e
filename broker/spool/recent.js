/**
 * The payloads a spool has accepted and its publisher has not taken, in memory: a publisher that keeps up never reads the disk.
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

  /** Once only: a second read goes to the disk. @param {number} seq */
  take (seq) {
    const payload = this.#payloads.get(seq)
    if (payload) {
      this.#payloads.delete(seq)
      this.#bytes -= payload.length
    }
    return payload
  }
}
