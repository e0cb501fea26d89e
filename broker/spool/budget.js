/**
 * The bytes that several spools may take together. When they are used up, the oldest segment of all is evicted, or the spool that needs
 * room waits: its owner chooses.
 *
 * @typedef {{oldestSegmentMs: number, reclaim(): Promise<boolean>, dropOldest(): Promise<boolean>, makeRoom(): void}} Holder
 */
export class Budget {
  /** @param {number} maxBytes */
  constructor (maxBytes) {
    this.maxBytes = maxBytes
    this.usedBytes = 0
    /** @type {Set<Holder>} */
    this.holders = new Set()
  }

  /** @param {number} bytes */
  fits (bytes) {
    return this.usedBytes + bytes <= this.maxBytes
  }

  /** @param {number} bytes  negative frees them */
  use (bytes) {
    this.usedBytes += bytes
    if (bytes < 0) for (const holder of this.holders) holder.makeRoom()
  }

  /** Frees what every required sink has stored. False when there is no such thing. */
  async reclaim () {
    let reclaimed = false
    for (const holder of this.holders) reclaimed = await holder.reclaim() || reclaimed
    return reclaimed
  }

  /** Evicts the oldest segment of all holders. False when there is none to evict. */
  async dropOldest () {
    const oldestFirst = [...this.holders].sort((a, b) => a.oldestSegmentMs - b.oldestSegmentMs)
    for (const holder of oldestFirst) {
      if (await holder.dropOldest()) return true
    }
    return false
  }
}
