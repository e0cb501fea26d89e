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
  #hasEnd = false

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
   * @returns {{done: () => void, never: () => void}} `never`: it is not dealt with, and nothing behind it is reached
   */
  begin (next, count, noted = null) {
    const part = { next, left: count, noted }
    if (!this.#hasEnd) this.#parts.push(part)
    if (count === 0) this.#advance()
    return {
      done: () => {
        part.left--
        this.#advance()
      },
      never: () => {
        const at = this.#parts.indexOf(part)
        if (at === -1) return
        this.#parts.length = at + 1
        this.#hasEnd = true
      }
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
