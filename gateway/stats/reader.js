import { Latency } from './latency.js'
import { ledger } from './ledger.js'
import { ProcessReader } from './process.js'
import { WriteTimes } from './write-times.js'

/**
 * @typedef {import('./meter.js').Meter} Meter
 * @typedef {import('./meter.js').Totals} Totals
 * @typedef {import('./latency.js').LatencySummary} LatencySummary
 * @typedef {import('./write-times.js').WriteSummaries} WriteSummaries
 * @typedef {Record<string, number|string|boolean|null>} Gauge
 *
 * @typedef {object} MeterReport
 * @property {import('./meter.js').Stage} stage
 * @property {string} name
 * @property {Totals} totals  since the process started
 * @property {{batches: number, rows: number, values: number, bytes: number}} perSecond  over the interval
 * @property {{interval: LatencySummary|null, overall: LatencySummary|null}} latencyMs  from sample time to passing here
 * @property {{interval: WriteSummaries, overall: WriteSummaries}} [writeMicroseconds]  of a sink: how long its database took for a batch
 *
 * @typedef {object} Report  plain JSON
 * @property {number} time  milliseconds since 1970 UTC
 * @property {number} intervalMs  since this reader last read
 * @property {MeterReport[]} meters
 * @property {Record<string, Gauge>} gauges
 * @property {import('./ledger.js').SinkBalance[]} ledger  of every sink
 * @property {import('./process.js').ProcessReport} process
 * @property {import('./host/host.js').HostReport|null} host  the machine's health: null until it is known
 * @property {import('./alarm.js').Alarm[]} alarms  that are raised, problems first
 */

const RATES = /** @type {const} */ (['batches', 'rows', 'values', 'bytes'])

/** Reads the stats at its own interval, independent of other readers. */
export class Reader {
  #stats
  #readAtNs
  #process = new ProcessReader()
  /** @type {Map<Meter, {totals: Totals, times: import('./meter.js').Times}>} as of the last reading */
  #last = new Map()

  /** @param {import('./stats.js').Stats} stats */
  constructor (stats) {
    this.#stats = stats
    this.#readAtNs = stats.nowNs()
    for (const meter of stats.meters) this.follow(meter, meter.totals)
  }

  /**
   * Rates and latencies since the last reading, or since the reader was created.
   * @returns {Report}
   */
  read () {
    const { meters } = this.#stats
    const nowNs = this.#stats.nowNs()
    const intervalMs = Number(nowNs - this.#readAtNs) / 1e6
    this.#readAtNs = nowNs
    const passed = { source: 0, stage: 0, sink: 0 }
    const reports = meters.map(meter => {
      const { values, report } = this.#readMeter(meter, intervalMs)
      passed[meter.stage] += values
      return report
    })
    return {
      time: Number(nowNs / 1_000_000n),
      intervalMs,
      meters: reports,
      gauges: this.#stats.readGauges(),
      ledger: ledger(this.#stats),
      process: this.#process.read(intervalMs, Math.max(passed.source, passed.stage, passed.sink)),
      host: this.#stats.host?.report ?? null,
      alarms: this.#stats.alarms?.active ?? []
    }
  }

  /** Follows a meter. @param {Meter} meter @param {Totals} totals  already counted */
  follow (meter, totals) {
    const times = { latency: new Latency(), writes: new WriteTimes() }
    meter.intervals.add(times)
    this.#last.set(meter, { totals, times })
  }

  /** Forgets a meter. @param {Meter} meter */
  unfollow (meter) {
    const last = this.#last.get(meter)
    if (last) meter.intervals.delete(last.times)
    this.#last.delete(meter)
  }

  close () {
    this.#process.close()
    for (const meter of [...this.#last.keys()]) this.unfollow(meter)
    this.#stats.readers.delete(this)
  }

  /** @param {Meter} meter @param {number} intervalMs */
  #readMeter (meter, intervalMs) {
    const last = /** @type {{totals: Totals, times: import('./meter.js').Times}} */ (this.#last.get(meter))
    const { totals, stage, name } = meter
    const { latency, writes } = last.times
    const perSecond = { batches: 0, rows: 0, values: 0, bytes: 0 }
    for (const rate of RATES) perSecond[rate] = intervalMs > 0 ? (totals[rate] - last.totals[rate]) * 1000 / intervalMs : 0
    const values = totals.values - last.totals.values
    /** @type {MeterReport} */
    const report = { stage, name, totals, perSecond, latencyMs: { interval: latency.summary(), overall: meter.latency.summary() } }
    if (stage === 'sink') report.writeMicroseconds = { interval: writes.summary(), overall: meter.writes.summary() }
    last.totals = totals
    latency.reset()
    writes.reset()
    return { values, report }
  }
}
