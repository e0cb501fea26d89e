/**
 * @typedef {import('../../stats/reader.js').Report} Report
 * @typedef {import('../../stats/reader.js').MeterReport} MeterReport
 */

const SPAN_MS = 5 * 60_000
/** What a rate is over, about. */
const RATE_MS = 2000

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

/** Rates from one batch to another: what is stored in bursts keeps its pace between them. */
export class Rates {
  /** @type {Map<string, {timeMs: number, totals: MeterReport['totals']}[]>} by meter: when batches had come, oldest first */
  #steps = new Map()
  #timeMs = 0
  #uptimeSeconds = 0

  /** @param {Report} report */
  push ({ time, meters, process: { uptimeSeconds } }) {
    if (uptimeSeconds < this.#uptimeSeconds) this.#steps.clear()
    this.#uptimeSeconds = uptimeSeconds
    this.#timeMs = time
    for (const meter of meters) {
      const steps = this.#stepsOf(meter)
      if (steps.at(-1)?.totals.batches !== meter.totals.batches) steps.push({ timeMs: time, totals: meter.totals })
      while (steps.length > 2 && time - steps[1].timeMs >= RATE_MS) steps.shift()
    }
  }

  /** Per second; null while too little has been seen, 0 after a pause twice as long as the last. @param {MeterReport} meter @param {'rows'|'values'|'bytes'} counter */
  of (meter, counter) {
    const steps = this.#stepsOf(meter)
    const [first, last] = [steps[0], steps[steps.length - 1]]
    const silenceMs = this.#timeMs - last.timeMs
    if (steps.length === 1) return silenceMs < RATE_MS ? null : 0
    if (silenceMs > Math.max(RATE_MS, 2 * (last.timeMs - steps[steps.length - 2].timeMs))) return 0
    const elapsedMs = last.timeMs - first.timeMs
    return elapsedMs < RATE_MS / 2 ? null : (last.totals[counter] - first.totals[counter]) * 1000 / elapsedMs
  }

  /** @param {MeterReport} meter */
  #stepsOf ({ stage, name }) {
    const key = `${stage} ${name}`
    const steps = this.#steps.get(key) ?? []
    this.#steps.set(key, steps)
    return steps
  }
}
