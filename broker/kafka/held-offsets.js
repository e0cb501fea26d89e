/**
 * @typedef {import('../in/contract.js').Packet} Packet
 * @typedef {{offset: bigint, packet: Packet|null}} Held  `packet`: until it is acknowledged
 */

/** The messages of one partition that are not acknowledged: all up to the first of them may be committed to the group. */
export class HeldOffsets {
  /** Of messages that are not acknowledged. */
  count = 0
  bytes = 0
  /** @type {Held[]} */
  #held = []
  #onAcknowledged

  /**
   * @param {bigint} next  the first that will come
   * @param {() => void} onAcknowledged
   */
  constructor (next, onAcknowledged) {
    /** Up to where they have come. */
    this.next = next
    this.#onAcknowledged = onAcknowledged
  }

  /** Where another reader has to go on. */
  get position () { return this.#held[0]?.offset ?? this.next }

  /** From that position on. */
  get length () { return this.#held.length }

  /** What is not acknowledged, in order. */
  get unacknowledged () { return this.#held.filter(({ packet }) => packet !== null) }

  /** @param {bigint} offset @param {Packet} packet @returns {Held} */
  hold (offset, packet) {
    const held = { offset, packet }
    this.#held.push(held)
    this.next = offset + 1n
    this.count++
    this.bytes += packet.payload.length
    return held
  }

  /** @param {Held} held */
  acknowledge (held) {
    if (held.packet === null) return
    this.bytes -= held.packet.payload.length
    held.packet = null
    this.count--
    const first = this.#held.findIndex(({ packet }) => packet !== null)
    this.#held.splice(0, first === -1 ? this.#held.length : first)
    this.#onAcknowledged()
  }

  /** All before it has come, or never will. @param {bigint} next */
  advance (next) {
    if (next > this.next) this.next = next
  }
}
