/** Of what it took, so many are remembered: the least of them is without what others took of the processor meanwhile. */
const REMEMBERED = 5

/**
 * A share of a core for what is dear to read: it is read as often as that allows, and whenever it has to be fresh. So a monitor stays cheap
 * whatever it watches: a server of a thousand threads, or a folder of a million files.
 */
export class Ration {
  /** Whether it is read this time. */
  isDue = true
  #share
  #dueMs = -Infinity
  #begunMs = 0
  #spentMs = 0
  /** @type {number[]} */
  #costs = []

  /** @param {number} share  of a core, as 0.002 */
  constructor (share) {
    this.#share = share
  }

  /** A reading begins. @param {boolean} fresh */
  begin (fresh) {
    this.#begunMs = performance.now()
    this.#spentMs = 0
    this.isDue = fresh || this.#begunMs >= this.#dueMs
  }

  /** Takes it from the ration. @template T @param {() => T} read @returns {T} */
  spend (read) {
    const begunMs = performance.now()
    try {
      return read()
    } finally {
      this.#spentMs += performance.now() - begunMs
    }
  }

  /** The same of what does not come at once. @template T @param {() => Promise<T>} read @returns {Promise<T>} */
  async spendAsync (read) {
    const begunMs = performance.now()
    try {
      return await read()
    } finally {
      this.#spentMs += performance.now() - begunMs
    }
  }

  /** The reading is over. */
  end () {
    if (!this.isDue) return
    this.#costs = [...this.#costs, this.#spentMs].slice(-REMEMBERED)
    this.#dueMs = this.#begunMs + Math.min(...this.#costs) / this.#share
  }
}
