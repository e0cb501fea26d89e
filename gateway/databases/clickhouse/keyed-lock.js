/**
 * Who works when: several at a time, though never two on the same thing, or one alone.
 */
export class KeyedLock {
  /** @type {Map<string, Promise<unknown>>} */
  #flights = new Map()
  /** @type {Promise<unknown>|null} */
  #alone = null

  /**
   * What work on these things must wait for, null when it can begin now.
   * @param {string[]} things
   * @returns {Promise<unknown>|null} never rejects
   */
  busyWith (things) {
    if (this.#alone) return settled([this.#alone])
    const flights = things.flatMap(thing => this.#flights.get(thing) ?? [])
    return flights.length > 0 ? settled(flights) : null
  }

  /** Begins at once: see `busyWith`. @template T @param {string[]} things @param {() => Promise<T>} work @returns {Promise<T>} */
  async together (things, work) {
    const flight = work()
    // Work on nothing in particular is waited for as well.
    const keys = things.length > 0 ? things : [`${Math.random()}`]
    for (const key of keys) this.#flights.set(key, flight)
    try {
      return await flight
    } finally {
      for (const key of keys) this.#flights.delete(key)
    }
  }

  /** Waits until all other work is done; none begins meanwhile. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  async alone (work) {
    while (this.#alone) await settled([this.#alone])
    const turn = settled([...this.#flights.values()]).then(work)
    this.#alone = turn
    try {
      return await turn
    } finally {
      this.#alone = null
    }
  }
}

/** @param {Promise<unknown>[]} promises */
function settled (promises) {
  return Promise.allSettled(promises)
}
