import { bitsAt, derive, stateAt } from '../../gateway/base/random.js'

/** Random choices of one case: the same for the same seed and case, whatever ran before. */
export class Random {
  #seed
  #drawn = 0

  /** @param {number} seed @param {number} number  of the case */
  constructor (seed, number) {
    this.#seed = derive(seed, number)
  }

  /** @returns {number} 0 … 2³² - 1 */
  bits () {
    return bitsAt(stateAt(this.#seed, this.#drawn++), 0) >>> 0
  }

  /** @param {number} limit @returns {number} 0 … limit - 1 */
  below (limit) {
    return this.bits() % limit
  }

  /** @param {number} parts  true once in so many times, about */
  oneIn (parts) {
    return this.below(parts) === 0
  }

  /** @template T @param {readonly T[]} choices @returns {T} */
  pick (choices) {
    return choices[this.below(choices.length)]
  }

  /** Mostly small. @param {number} limit @returns {number} 0 … limit - 1 */
  small (limit) {
    return this.below(1 + this.below(limit))
  }

  /** @param {number} length */
  bytes (length) {
    return Buffer.from(Array.from({ length }, () => this.bits() & 255))
  }
}
