import { BusStatistics } from './statistics.js'

/**
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {import('./bus.js').Listener} Listener
 */

/** The listeners of a bus, and the statistics of what it has carried. */
export class Listeners {
  /** @type {Set<Listener>} */
  #all = new Set()
  #waits

  /**
   * @param {{bitrate: number, dataBitrate: number}} rates  bits a second; 0 where not known
   * @param {{waits?: boolean}} [options]  `waits`: the bus waits for paused listeners
   */
  constructor ({ bitrate, dataBitrate }, { waits = false } = {}) {
    this.#waits = waits
    this.statistics = new BusStatistics({ bitrate, dataBitrate })
  }

  get filters () { return Array.from(this.#all, ({ filter }) => filter) }

  get isPaused () {
    for (const listener of this.#all) if (listener.isPaused()) return true
    return false
  }

  /** @param {Listener} listener @returns {() => void} */
  add (listener) {
    this.#all.add(listener)
    return () => { this.#all.delete(listener) }
  }

  /** @param {Frame[]} frames @param {BigInt64Array} times  one a frame */
  hear (frames, times) {
    for (let i = 0; i < frames.length; i++) this.statistics.count(frames[i], times[i])
    for (const listener of this.#all) {
      try {
        this.#tell(listener, frames, times)
      } catch (error) { // this listener's own: the bus and the others go on
        this.#all.delete(listener)
        listener.end(error)
      }
    }
  }

  /** @param {unknown} [error] */
  end (error) {
    for (const listener of this.#all) listener.end(error)
    this.#all.clear()
  }

  /** What passes its filter; error frames concern all. @param {Listener} listener @param {Frame[]} frames @param {BigInt64Array} times */
  #tell (listener, frames, times) {
    const { filter } = listener
    const wanted = filter ? frames.flatMap(({ id, extended, kind }, i) => kind === 'error' || filter.wants(id, extended) ? [i] : []) : null
    const count = wanted?.length ?? frames.length
    if (count === 0) return
    if (!this.#waits && listener.isPaused()) listener.miss(count)
    else if (wanted && count < frames.length) listener.take(wanted.map(i => frames[i]), BigInt64Array.from(wanted, i => times[i]))
    else listener.take(frames, times)
  }
}
