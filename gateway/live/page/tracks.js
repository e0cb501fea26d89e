/** The last minutes, value by value, as the stream has told them. */
export const TRACK_MS = 15 * 60_000

/** What the charts and sparklines are drawn from, by the keys of the history. */
export class Tracks {
  /** When reports came, in ms since 1970. @type {number[]} */
  times = []
  /** @type {Map<string, (number|null)[]>} one value for each time */
  #values = new Map()

  /** @param {number} timeMs @param {Iterable<[key: string, value: number|null]>} values */
  push (timeMs, values) {
    this.times.push(timeMs)
    for (const [key, value] of values) {
      let column = this.#values.get(key)
      if (!column) this.#values.set(key, column = new Array(this.times.length - 1).fill(null))
      column.push(value)
    }
    for (const column of this.#values.values()) if (column.length < this.times.length) column.push(null)
    let old = 0
    while (this.times[old] < timeMs - TRACK_MS) old++
    if (old === 0) return
    this.times.splice(0, old)
    for (const column of this.#values.values()) column.splice(0, old)
  }

  /** @param {string} key @returns {(number|null)[]} */
  of (key) { return this.#values.get(key) ?? this.times.map(() => null) }

  /** @param {string} key @param {number} count */
  last (key, count) { return this.#values.get(key)?.slice(-count) ?? [] }
}

/** As the history calls it. @param {string} type @param {string} id @param {string} measure */
export function keyOf (type, id, measure) { return `${type}/${id.replace(/[%,/]/g, encodeURIComponent)}/${measure}` }
