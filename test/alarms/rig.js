import { Alarms } from '../../gateway/alarms/alarms.js'
import { KINDS } from '../../gateway/alarms/kinds/index.js'
import { Limits } from '../../gateway/alarms/limits.js'
import { Snapshots } from '../../gateway/alarms/snapshot.js'
import { Stats } from '../../gateway/stats/stats.js'

/** @typedef {import('../../gateway/stats/reader.js').Gauge} Gauge */

export const START_MS = 1_700_000_000_000
export const MINUTE = 60
export const HOUR = 3600

/** A gateway that is made up, judged every five seconds by a clock that is moved. */
export class Rig {
  nowMs = 0
  wallMs = START_MS
  stats = new Stats()
  limits = new Limits()
  clock = { state: /** @type {'set'|'waiting'|'unsynchronised'} */ ('set'), isWrong: false }
  blockedMs = 0
  /** @type {Map<string, Gauge>} */
  #gauges = new Map()

  /** @param {import('../../gateway/alarms/alarms.js').Kept|null} [kept] */
  constructor (kept = null) {
    const now = () => this.nowMs
    const wallNow = () => this.wallMs
    const snapshots = new Snapshots(this.stats, this.limits, { now, wallNow, clock: this.clock, blockedMs: () => this.blockedMs })
    this.alarms = new Alarms({ kinds: KINDS, take: () => snapshots.take(), kept, now, wallNow })
  }

  /** Sets what a gauge has, besides what it had. @param {string} name @param {Gauge} values */
  gauge (name, values) {
    if (!this.#gauges.has(name)) this.stats.gauge(name, () => this.#gauges.get(name) ?? {}, `id of ${name}`)
    this.#gauges.set(name, { ...this.#gauges.get(name), ...values })
  }

  /** @param {number} seconds @param {(second: number) => void} [step]  before each judgement */
  pass (seconds, step = () => {}) {
    for (let passed = 5; passed <= seconds; passed += 5) {
      this.nowMs += 5000
      this.wallMs += 5000
      step(passed)
      this.alarms.judge()
    }
    return this.said
  }

  get said () { return this.alarms.active.map(({ kind, level, what }) => `${kind} ${level}: ${what}`) }
}

/** What a source sends. @param {import('../../gateway/stats/meter.js').Meter} meter */
export const sends = meter => {
  meter.batches++
  meter.rowsBySource.set(meter.name, meter.batches)
}

export const MIB = 2 ** 20
