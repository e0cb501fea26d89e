/**
 * The bytes that several spools may hold together. When they are used up, the spool that has kept a segment longest gives it up,
 * or the spool that wants room waits: its owner chooses.
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

  /** @param {number} bytes  negative gives back */
  use (bytes) {
    this.usedBytes += bytes
    if (bytes < 0) for (const holder of this.holders) holder.makeRoom()
  }

  /** Takes back what is stored everywhere but still held. False when there is nothing of the kind. */
  async reclaim () {
    let reclaimed = false
    for (const holder of this.holders) reclaimed = await holder.reclaim() || reclaimed
    return reclaimed
  }

  /** Gives up the oldest segment of all holders. False when none has one to give. */
  async dropOldest () {
    const oldestFirst = [...this.holders].sort((a, b) => a.oldestSegmentMs - b.oldestSegmentMs)
    for (const holder of oldestFirst) {
      if (await holder.dropOldest()) return true
    }
    return false
  }
}
