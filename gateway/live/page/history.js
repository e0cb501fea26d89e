/**
 * @typedef {import('../../stats/reader.js').Report} Report
 * @typedef {import('../../stats/reader.js').MeterReport} MeterReport
 */

const SPAN_MS = 5 * 60_000
/** Batches come in bursts; a rate over less than this would show the bursts. */
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

/** Rates over a window that bursts do not show in. */
export class Rates {
  /** @type {Report[]} */
  #reports = []

  /** @param {Report} report */
  push (report) {
    const started = this.#reports.at(-1)
    if (started && report.process.uptimeSeconds < started.process.uptimeSeconds) this.#reports = []
    this.#reports.push(report)
    while (this.#reports.length > 2 && report.time - this.#reports[1].time >= RATE_MS) this.#reports.shift()
  }

  /** Per second; null while too little has been seen. @param {MeterReport} meter @param {'rows'|'values'|'bytes'} counter */
  of (meter, counter) {
    const first = this.#reports[0]
    const before = first.meters.find(({ stage, name }) => stage === meter.stage && name === meter.name)
    const elapsedMs = (this.#reports.at(-1)?.time ?? 0) - first.time
    if (!before || elapsedMs < RATE_MS / 2) return null
    return Math.max(0, meter.totals[counter] - before.totals[counter]) * 1000 / elapsedMs
  }
}
