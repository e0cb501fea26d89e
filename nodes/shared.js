/**
 * One thing for all who lease it: opened for the first, closed after the last. What is leased again while it closes is opened once that is
 * done: a serial port, say, has one owner.
 * @template {{close: () => Promise<unknown>}} Thing
 */
export class Shared {
  #open
  /** @type {Promise<Thing>|null} */
  #opening = null
  /** @type {Set<Promise<void>>} */
  #leases = new Set()
  /** @type {Promise<unknown>} */
  #closed = Promise.resolve()

  /** @param {() => Thing|Promise<Thing>} open */
  constructor (open) {
    this.#open = open
  }

  /** @returns {Promise<{thing: Thing, release: () => Promise<unknown>}>} `release` resolves once it is closed, if it was the last one */
  async lease () {
    const { promise, resolve } = Promise.withResolvers()
    this.#leases.add(promise)
    const release = () => {
      if (this.#leases.delete(promise) && this.#leases.size === 0) this.#end()
      resolve(undefined)
      return this.#closed
    }
    try {
      this.#opening ??= this.#closed.then(this.#open)
      return { thing: await this.#opening, release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Once it is no longer in use. */
  async close () {
    while (this.#leases.size > 0) await Promise.all(this.#leases)
    await this.#closed
  }

  #end () {
    const opening = this.#opening
    this.#opening = null
    if (opening) this.#closed = opening.then(thing => thing.close(), () => {})
  }
}
