/** @typedef {import('./station.js').Station} Station */

/**
 * Whose turn it is on a line: each device with a waiting request gets one before any gets its second. After a timeout, all that answer get
 * their turn before another is tried that may not: however many are dead, a request waits for one timeout at a time.
 */
export class Rota {
  /** @type {Station[]} the one asked last is last */
  stations = []
  /** those that had a turn since the last timeout @type {Set<Station>} */
  #served = new Set()

  get hasGood () { return this.stations.some(({ isGood }) => isGood) }

  /** The most requests that one of them accepts at a time. */
  get pipeline () { return Math.max(...this.stations.map(({ options }) => options.pipeline)) }

  /** Those for the same device. @param {Station} station */
  like (station) {
    return this.stations.filter(({ options }) => options.unit === station.options.unit)
  }

  /** @param {Station} station */
  remove (station) {
    this.stations = this.stations.filter(other => other !== station)
    this.#served.delete(station)
  }

  /**
   * @param {(station: Station) => number} readyInMs
   * @returns {{station?: Station, waitMs: number}} `waitMs`: until one is ready; Infinity where none has a request
   */
  next (readyInMs) {
    const isOwed = (/** @type {Station} */ station) => station.wants && station.isGood && !this.#served.has(station)
    const goodFirst = this.stations.some(isOwed)
    let waitMs = Infinity
    for (const [turn, station] of this.stations.entries()) {
      if (!station.wants || (goodFirst && !station.isGood)) continue
      const inMs = readyInMs(station)
      if (inMs <= 0) {
        this.stations.push(...this.stations.splice(turn, 1))
        this.#served.add(station)
        return { station, waitMs: 0 }
      }
      waitMs = Math.min(waitMs, inMs)
    }
    return { waitMs }
  }

  timedOut () {
    this.#served.clear()
  }
}
