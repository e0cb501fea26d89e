/**
 * How far a stream has been dealt with, where what is taken from it is finished in any order: up to the first that is not.
 *
 * @typedef {{next: bigint, left: number, noted: bigint|null}} Part
 */
export class Tracker {
  /** In order. @type {Part[]} */
  #parts = []
  #onReach
  /** Of the last part with rows that is behind. @type {bigint|null} */
  #noted

  /**
   * @param {bigint|null} noted  as it was when reading began
   * @param {(next: bigint, noted: bigint|null) => void} onReach  all before `next` is dealt with; `noted` is that of the last that had rows
   */
  constructor (noted, onReach) {
    this.#noted = noted
    this.#onReach = onReach
  }

  /**
   * @param {bigint} next  the offset behind it
   * @param {number} count  how often `done` is called before it is dealt with
   * @param {bigint|null} [noted]  where it has rows
   * @returns {() => void} done
   */
  begin (next, count, noted = null) {
    const part = { next, left: count, noted }
    this.#parts.push(part)
    if (count === 0) this.#advance()
    return () => {
      part.left--
      this.#advance()
    }
  }

  #advance () {
    let reached = null
    while (this.#parts.length > 0 && this.#parts[0].left <= 0) {
      const { next, noted } = /** @type {Part} */ (this.#parts.shift())
      reached = next
      this.#noted = noted ?? this.#noted
    }
    if (reached !== null) this.#onReach(reached, this.#noted)
  }
}
