/** A log, or someone's messages, can name any number of buses: the later ones share one place. */
const MAX_BUSES = 32
const OTHER_BUSES = 'others'

/**
 * Rows by the bus that they are of, and there by whatever key.
 * @template K, R
 */
export class RowsByBus {
  /** @type {Map<string, Map<K, R>>} */
  #rows = new Map()
  #maxBuses

  /** @param {number} [maxBuses] */
  constructor (maxBuses = MAX_BUSES) {
    this.#maxBuses = maxBuses
  }

  /** Whether a bus has a place of its own, or would get one. @param {string} bus */
  hasRoomFor (bus) {
    return this.#rows.size < this.#maxBuses || this.#rows.has(bus)
  }

  /**
   * The rows of a bus under a key, made where it has none.
   * @param {string} bus
   * @param {K} key
   * @param {(bus: string) => R} make
   */
  get (bus, key, make) {
    const name = this.hasRoomFor(bus) ? bus : OTHER_BUSES
    let ofBus = this.#rows.get(name)
    if (!ofBus) this.#rows.set(name, ofBus = new Map())
    let rows = ofBus.get(key)
    if (!rows) ofBus.set(key, rows = make(name))
    return rows
  }

  * all () {
    for (const ofBus of this.#rows.values()) yield * ofBus.values()
  }

  clear () {
    this.#rows.clear()
  }
}
