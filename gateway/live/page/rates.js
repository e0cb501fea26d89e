/** What a rate is over, about; at least, at first; and how long nothing must come for it to be 0. */
const RATE_MS = 5000
const SHORTEST_MS = 1000
const SILENT_MS = 3000

/**
 * @typedef {object} Pace  of one count
 * @property {number} sinceMs  when it was first seen
 * @property {number} count
 * @property {{timeMs: number, count: number}[]} steps  when it had grown, oldest first
 */

/** Rates from one growth to another: what is stored in bursts keeps its pace between them. */
export class Rates {
  /** @type {Map<string, Pace>} */
  #paces = new Map()
  #timeMs = 0

  /** As after a restart, when counts begin at 0, or when the clock was put back. */
  clear () {
    this.#paces.clear()
    this.#timeMs = 0
  }

  /** @param {string} key @param {number} timeMs @param {number} count */
  push (key, timeMs, count) {
    this.#timeMs = Math.max(this.#timeMs, timeMs)
    const pace = this.#paces.get(key)
    if (!pace || count < pace.count) return void this.#paces.set(key, { sinceMs: timeMs, count, steps: [] })
    const { steps } = pace
    if (count !== pace.count) steps.push({ timeMs, count })
    pace.count = count
    while (steps.length > 2 && timeMs - steps[1].timeMs >= RATE_MS) steps.shift()
  }

  /** Per second; null while too little has been seen, 0 after a pause twice as long as the last. @param {string} key */
  of (key) {
    const pace = this.#paces.get(key)
    if (!pace) return null
    const { sinceMs, steps } = pace
    const [first, last, before] = [steps[0], steps[steps.length - 1], steps[steps.length - 2]]
    const pauseMs = before ? last.timeMs - before.timeMs : RATE_MS
    if (this.#timeMs - (last?.timeMs ?? sinceMs) > Math.max(SILENT_MS, 2 * pauseMs)) return 0
    const elapsedMs = before ? last.timeMs - first.timeMs : 0
    return elapsedMs < SHORTEST_MS ? null : (last.count - first.count) * 1000 / elapsedMs
  }
}
