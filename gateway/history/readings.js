import { monitorEventLoopDelay } from 'node:perf_hooks'
import { COUNTERS } from '../stats/meter.js'
import { MEASURES } from './measures.js'
import { Recent } from './percentiles.js'
import { STEP_MS } from './spans.js'

/**
 * @typedef {import('../stats/meter.js').Meter} Meter
 * @typedef {import('../stats/meter.js').Totals} Totals
 * @typedef {import('../stats/reader.js').Gauge} Gauge
 * @typedef {import('../stats/stats.js').Follower} Follower
 * @typedef {object} Subject
 * @property {import('./measures.js').SubjectType} type
 * @property {string} id  by which it stays the same under another name
 * @property {string} name
 * @property {string} [nodeId]  in the flow
 *
 * @typedef {{subject: Subject, values: unknown[], activity: number}} Reading  values by `MEASURES`; `activity` ranks what is too much
 * @typedef {object} Followed
 * @property {Subject} subject
 * @property {Totals} totals  as of the last reading
 * @property {number} activity
 * @property {Recent} ages
 * @property {Recent} writes
 * @property {import('../stats/meter.js').Listener} listener
 */

/** Each look wakes the process: every 50 ms, as the live page looks, takes 0.08 % of a core, which is too much for ever. */
const LOOP_LOOK_MS = 250
/** Of what a source did before, so much still counts: about what it did in the last quarter of an hour. */
const FADING = 0.99

/**
 * Reads the stats for the history, every ten seconds for as long as the gateway runs. A `Reader` makes a whole report, with percentiles
 * since the start, balances and a finer look at the event loop: for 200 sources that takes six times as long, without the balances. So
 * this follows the meters itself. Nor can it share the reader of the live page, whose percentiles are of its own intervals, and which is
 * there only while somebody looks.
 * @implements {Follower}
 */
export class Readings {
  /** @type {Map<Meter, Followed>} */
  #followed = new Map()
  #cpu = process.cpuUsage()
  #loop = monitorEventLoopDelay({ resolution: LOOP_LOOK_MS })
  #readAtMs
  #stats
  #monotonicMs

  /** @param {import('../stats/stats.js').Stats} stats @param {() => number} monotonicMs */
  constructor (stats, monotonicMs) {
    this.#stats = stats
    this.#monotonicMs = monotonicMs
    this.#readAtMs = monotonicMs()
    this.#loop.enable()
    for (const meter of stats.meters) this.follow(meter)
    stats.followers.add(this)
  }

  /** @param {Meter} meter */
  follow (meter) {
    const { stage, id, name, totals } = meter
    const subject = { type: stage, id, name, ...stage === 'sink' && { nodeId: id } }
    const [ages, writes] = [new Recent(), new Recent()]
    const listener = { latency: ages, writes: { record: (/** @type {string} */ _outcome, /** @type {number} */ us) => writes.record(us) } }
    meter.intervals.add(listener)
    this.#followed.set(meter, { subject, totals, activity: 0, ages, writes, listener })
  }

  /** @param {Meter} meter */
  unfollow (meter) {
    const followed = this.#followed.get(meter)
    if (followed) meter.intervals.delete(followed.listener)
    this.#followed.delete(meter)
  }

  close () {
    this.#loop.disable()
    this.#stats.followers.delete(this)
    for (const meter of [...this.#followed.keys()]) this.unfollow(meter)
  }

  /**
   * What has happened since this was last called, and how many steps that is of: more than one after a pause, when something has blocked
   * or stopped the gateway. A clock that was set is no pause, and what is counted while the machine sleeps is of one step.
   * @param {number} mostSteps  by the clock, since then
   * @returns {{steps: number, readings: Reading[]}}
   */
  read (mostSteps) {
    const nowMs = this.#monotonicMs()
    const passedMs = nowMs - this.#readAtMs
    const steps = Math.max(1, Math.min(mostSteps, Math.round(passedMs / STEP_MS)))
    this.#readAtMs = nowMs
    const seconds = steps * STEP_MS / 1000
    const gauges = this.#stats.readGauges()
    const host = this.#stats.host?.report
    const readings = [
      state({ type: 'process', id: 'gateway', name: 'gateway' }, this.#process(passedMs / 1000)),
      ...host ? [state({ type: 'machine', id: 'machine', name: 'machine' }, host)] : [],
      ...Object.entries(gauges).flatMap(([name, gauge]) => name.startsWith('spool ') ? [spoolOf(name.slice('spool '.length), gauge)] : []),
      ...Array.from(this.#followed, ([meter, followed]) => readMeter(meter, followed, seconds, gauges[`${meter.stage} ${meter.name}`]))
    ]
    return { steps, readings }
  }

  /** @param {number} seconds */
  #process (seconds) {
    const { user, system } = process.cpuUsage(this.#cpu)
    this.#cpu = process.cpuUsage()
    const loopDelayMs = this.#loop.count > 0 ? Math.max(0, this.#loop.max / 1e6 - LOOP_LOOK_MS) : 0
    this.#loop.reset()
    return { cpuPercent: seconds > 0 ? (user + system) / seconds / 1e4 : null, rssBytes: process.memoryUsage.rss(), loopDelayMs }
  }
}

/** @param {string} name @param {Gauge} gauge @returns {Reading} */
function spoolOf (name, gauge) { return state({ type: 'spool', id: name, name }, gauge) }

/** Of what is never left out. @param {Subject} subject @param {object} of @returns {Reading} */
function state (subject, of) { return { subject, values: valuesOf(subject, of), activity: Infinity } }

/**
 * @param {Meter} meter
 * @param {Followed} followed
 * @param {number} seconds
 * @param {Gauge|undefined} gauge
 * @returns {Reading}
 */
function readMeter (meter, followed, seconds, gauge) {
  const { totals } = meter
  const since = /** @type {Totals} */ ({})
  for (const counter of COUNTERS) since[counter] = Math.max(0, totals[counter] - followed.totals[counter])
  followed.totals = totals
  followed.activity = followed.activity * FADING + since.rows
  if (followed.subject.name !== meter.name) followed.subject = { ...followed.subject, name: meter.name }
  const { subject, activity, ages, writes } = followed
  const values = valuesOf(subject, { since, seconds, gauge, ages: ages.take(), writes: writes.take() })
  return { subject, values, activity: subject.type === 'sink' ? Infinity : activity }
}

/** @param {Subject} subject @param {object} of */
function valuesOf ({ type }, of) { return MEASURES[type].map(({ read }) => read(of)) }
