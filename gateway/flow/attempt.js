/**
 * @typedef {object} Piece  what of a delivery reached a sink
 * @property {boolean} identified  the batch as it was staged; false: something a flow made of it
 * @property {{id: string, index: number, count: number}|null} [part]  of a split message (Node-RED's `msg.parts`)
 */

/** What of one attempt of a delivery has reached a sink. */
export class Attempt {
  /** The sink has, or has had, something of it that a flow made. */
  isChanged = false
  /** The sink has stored something of it. */
  hasStored = false
  /** What reached the sink may not be all, or some of it could not be stored: only another attempt brings the rest. */
  isBroken = false
  /** The flow has said that it sends no more. */
  isSettled = false
  /** pieces the sink has and has not stored */
  held = 0
  /** By the split's id. @type {Map<string, {count: number, held: Set<number>, done: Set<number>}>|null} */
  #splits = null

  /**
   * @param {number} number
   * @param {boolean} isRefused  the sink is storing an earlier attempt, or has stored one: it stores nothing of this one
   */
  constructor (number, isRefused) {
    this.number = number
    this.isRefused = isRefused
  }

  /** It may still be stored in full. */
  get isIntact () { return !this.isRefused && !this.isBroken }

  /** All that has reached the sink is stored, and no part of a split is missing. */
  get isStored () {
    if (!this.isIntact || this.held > 0) return false
    if (this.#splits) for (const { count, done } of this.#splits.values()) if (done.size < count) return false
    return true
  }

  /** @param {Piece} piece @returns {boolean} false of a part that the sink has or had already */
  take ({ identified, part }) {
    if (part) {
      this.#splits ??= new Map()
      const split = this.#splits.get(part.id) ?? { count: part.count, held: new Set(), done: new Set() }
      if (split.held.has(part.index) || split.done.has(part.index)) return false
      split.held.add(part.index)
      this.#splits.set(part.id, split)
    }
    this.isChanged ||= !identified
    this.held++
    return true
  }

  /** A piece is stored. @param {Piece} piece */
  store ({ part }) {
    this.held--
    this.hasStored = true
    const split = part && this.#splits?.get(part.id)
    if (!split) return
    split.held.delete(part.index)
    split.done.add(part.index)
  }

  /** A piece could not be stored. @param {Piece} piece */
  release ({ part }) {
    this.held--
    this.isBroken = true
    if (part) this.#splits?.get(part.id)?.held.delete(part.index)
  }
}
