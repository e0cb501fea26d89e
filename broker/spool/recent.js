/**
 * The payloads a spool has accepted and its publisher has not taken, in memory: a publisher that keeps up never reads the disk.
 */
export class Recent {
  /** @type {Map<number, Uint8Array>} by position in the log, in order */
  #payloads = new Map()
  #bytes = 0

  /** @param {number} [maxBytes] */
  constructor (maxBytes = 2 ** 20) {
    this.maxBytes = maxBytes
  }

  /** @param {number} position @param {Uint8Array} payload */
  add (position, payload) {
    this.#payloads.set(position, payload)
    this.#bytes += payload.length
    for (const oldest of this.#payloads.keys()) {
      if (this.#bytes <= this.maxBytes) break
      this.take(oldest)
    }
  }

  /** Once only: a second read goes to the disk. @param {number} position */
  take (position) {
    const payload = this.#payloads.get(position)
    if (payload) {
      this.#payloads.delete(position)
      this.#bytes -= payload.length
    }
    return payload
  }
}
