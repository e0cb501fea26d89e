/**
 * @typedef {import('../../stats/reader.js').Report} Report
 * @typedef {import('../../stats/reader.js').MeterReport} MeterReport
 */

const SPAN_MS = 5 * 60_000
/** What a rate is over, about; at least, at first; and how long nothing must come for it to be 0. */
const RATE_MS = 5000
const SHORTEST_MS = 1000
const SILENT_MS = 1500

/** The last minutes of some curves, as columns for uPlot. */
export class Curves {
  /** @type {number[]} seconds */
  times = []
  /** @type {Map<string, (number|null)[]>} label → one value per time */
  columns = new Map()

  /** @param {number} timeMs @param {Record<string, number|null>} values  by label */
  push (timeMs, values) {
    for (const label of Object.keys(values)) {
      if (!this.columns.has(label)) this.columns.set(label, this.times.map(() => null))
    }
    this.times.push(timeMs / 1000)
    for (const [label, column] of this.columns) column.push(values[label] ?? null)
    while (this.times[0] < (timeMs - SPAN_MS) / 1000) {
      this.times.shift()
      for (const column of this.columns.values()) column.shift()
    }
  }

  get data () { return [this.times, ...this.columns.values()] }
}

/**
 * @typedef {object} Pace  of one meter
 * @property {number} sinceMs  when it was first seen
 * @property {number} batches
 * @property {{timeMs: number, totals: MeterReport['totals']}[]} steps  when batches had come, oldest first
 */

/** Rates from one batch to another: what is stored in bursts keeps its pace between them. */
export class Rates {
  /** @type {Map<string, Pace>} by meter */
  #paces = new Map()
  #timeMs = 0
  #uptimeSeconds = 0

  /** @param {Report} report */
  push ({ time, meters, process: { uptimeSeconds } }) {
    if (uptimeSeconds < this.#uptimeSeconds) this.#paces.clear()
    this.#uptimeSeconds = uptimeSeconds
    this.#timeMs = time
    for (const { stage, name, totals } of meters) {
      const pace = this.#paces.get(`${stage} ${name}`)
      if (!pace) {
        this.#paces.set(`${stage} ${name}`, { sinceMs: time, batches: totals.batches, steps: [] })
        continue
      }
      const { steps } = pace
      if (totals.batches !== pace.batches) steps.push({ timeMs: time, totals })
      pace.batches = totals.batches
      while (steps.length > 2 && time - steps[1].timeMs >= RATE_MS) steps.shift()
    }
  }

  /**
   * Per second; null while too little has been seen, 0 after a pause twice as long as the last.
   * @param {MeterReport} meter
   * @param {'rows'|'values'|'bytes'} counter
   */
  of ({ stage, name }, counter) {
    const { sinceMs, steps } = /** @type {Pace} */ (this.#paces.get(`${stage} ${name}`))
    const [first, last, before] = [steps[0], steps[steps.length - 1], steps[steps.length - 2]]
    const pauseMs = before ? last.timeMs - before.timeMs : RATE_MS
    if (this.#timeMs - (last?.timeMs ?? sinceMs) > Math.max(SILENT_MS, 2 * pauseMs)) return 0
    const elapsedMs = before ? last.timeMs - first.timeMs : 0
    return elapsedMs < SHORTEST_MS ? null : (last.totals[counter] - first.totals[counter]) * 1000 / elapsedMs
  }
}
