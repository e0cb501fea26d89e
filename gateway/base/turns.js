/** Lets so many at a time do something, in the order in which they came. */
export class Turns {
  #free
  /** @type {Set<() => void>} in their order */
  #waiting = new Set()

  /** @param {number} count */
  constructor (count) {
    this.#free = count
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @param {AbortSignal} [signal]  ends the waiting; the work has to see to itself
   * @returns {Promise<T>} rejects with the signal's reason, or as the work does
   */
  async run (work, signal) {
    await this.#begin(signal)
    try {
      return await work()
    } finally {
      this.#end()
    }
  }

  /** @param {AbortSignal} [signal] @returns {Promise<void>|undefined} */
  #begin (signal) {
    signal?.throwIfAborted()
    if (this.#free > 0) {
      this.#free--
      return
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.delete(begin)
        reject(signal?.reason)
      }
      this.#waiting.add(begin)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }

  #end () {
    const [next] = this.#waiting
    if (!next) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
