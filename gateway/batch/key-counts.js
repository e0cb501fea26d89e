const MIN_SLOTS = 2 ** 10
/** Of a slot: two halves of the key, one more than its count (0: the slot is free), nothing. */
const WORDS = 4

/** How often each key of 64 bits has come. A table of numbers: a map takes ten times the time and memory. */
export class KeyCounts {
  size = 0
  #slots = new Int32Array(WORDS * MIN_SLOTS)

  /**
   * Counts a key; how often it has come before, here or, if it has not, elsewhere.
   * @param {number} a @param {number} b @param {KeyCounts} elsewhere
   */
  add (a, b, elsewhere) {
    let at = this.#find(a, b)
    if (this.#slots[at + 2] === 0) at = this.#take(at, a, b, elsewhere.size === 0 ? 0 : elsewhere.#countOf(a, b))
    return this.#slots[at + 2]++ - 1
  }

  /** The key has come at least so often. @param {number} a @param {number} b @param {number} count */
  raise (a, b, count) {
    let at = this.#find(a, b)
    if (this.#slots[at + 2] === 0) at = this.#take(at, a, b, count)
    if (this.#slots[at + 2] <= count) this.#slots[at + 2] = count + 1
  }

  /** The key came once less, if it has not come since. @param {number} a @param {number} b @param {number} before  it did */
  takeBack (a, b, before) {
    const at = this.#find(a, b)
    if (this.#slots[at + 2] === before + 2) this.#slots[at + 2]--
  }

  clear () {
    if (this.size > 0) this.#slots.fill(0)
    this.size = 0
  }

  /** @param {number} a @param {number} b */
  #countOf (a, b) { return Math.max(0, this.#slots[this.#find(a, b) + 2] - 1) }

  /** Where a key is, or belongs. @param {number} a  evenly spread @param {number} b */
  #find (a, b) {
    const slots = this.#slots
    const last = slots.length - 1
    let at = WORDS * a & last
    while (slots[at + 2] !== 0 && (slots[at] !== a || slots[at + 1] !== b)) at = at + WORDS & last
    return at
  }

  /** @param {number} at  that is free @param {number} a @param {number} b @param {number} count @returns {number} where it is now */
  #take (at, a, b, count) {
    this.#put(at, a, b, count + 1)
    if (2 * WORDS * ++this.size <= this.#slots.length) return at
    this.#grow()
    return this.#find(a, b)
  }

  #grow () {
    const slots = this.#slots
    this.#slots = new Int32Array(2 * slots.length)
    for (let at = 0; at < slots.length; at += WORDS) {
      if (slots[at + 2] !== 0) this.#put(this.#find(slots[at], slots[at + 1]), slots[at], slots[at + 1], slots[at + 2])
    }
  }

  /** @param {number} at @param {number} a @param {number} b @param {number} count */
  #put (at, a, b, count) {
    const slots = this.#slots
    slots[at] = a
    slots[at + 1] = b
    slots[at + 2] = count
  }
}
