import { describe } from '../base/errors.js'
import { MAX_BAD_ROWS, MAX_REFUSED, tooLarge } from './bounds.js'

/**
 * @typedef {object} Refused  A row or value that was not accepted.
 * @property {number} index  of its row in the payload; -1 when it is the message as a whole
 * @property {string} reason
 * @property {unknown} value  the value, or the row where all of it was refused
 * @property {number} [count]  how many it stands for; default 1
 */

const ENOUGH = describe(tooLarge(
  `over ${MAX_BAD_ROWS} of its rows are refused, and the rest of them was not read`, 'Correct what the publisher sends.'
))

/** What is refused of one message: the first values one by one, for the rest the message once. */
export class Refusals {
  /** @type {Refused[]} */
  #first = []
  #more = 0
  #rows = 0

  get count () { return this.#first.length + this.#more }

  /** @param {number} index @param {string} reason @param {unknown} value */
  add (index, reason, value) {
    if (this.#first.length === MAX_REFUSED) this.#more++
    else this.#first.push({ index, reason, value })
  }

  /**
   * A whole row.
   * @param {number} index @param {string} reason @param {unknown} row @param {number} [following]  rows, where that is known
   * @returns {boolean} false: those are not to be read
   */
  addRow (index, reason, row, following = 0) {
    this.add(index, reason, row)
    if (++this.#rows <= MAX_BAD_ROWS) return true
    this.#more += following
    return false
  }

  /** @param {unknown} message  to be kept where not every value is @returns {Refused[]} */
  list (message) {
    if (this.#more === 0) return this.#first
    const reason = this.#rows > MAX_BAD_ROWS ? ENOUGH : `${this.#more} more of its values were refused`
    return [...this.#first, { index: -1, reason, value: message, count: this.#more }]
  }
}

/** How many values were refused. @param {Refused[]} refused */
export function countOf (refused) {
  return refused.reduce((sum, { count = 1 }) => sum + count, 0)
}
