/**
 * What was used lately, by name: the more recent half at least. Others may invent names for ever.
 *
 * @template T
 */
export class Recent {
  /** @type {Map<string, T>} */
  #young = new Map()
  /** @type {Map<string, T>} */
  #old = new Map()
  #max
  #make

  /** @param {number} max  about half of which is kept for sure @param {(name: string) => T} make */
  constructor (max, make) {
    this.#max = max
    this.#make = make
  }

  get size () { return this.#young.size + this.#old.size }

  /** @param {string} name @returns {T} */
  get (name) {
    const found = this.#young.get(name)
    return found === undefined ? this.#remember(name) : found
  }

  /** @param {string} name */
  #remember (name) {
    const value = this.#old.get(name) ?? this.#make(name)
    if (this.#young.size >= this.#max / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(name, value)
    return value
  }
}
