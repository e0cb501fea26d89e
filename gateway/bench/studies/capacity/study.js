import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { benchOf } from '../../sinks/bench-of.js'
import { RampGateway } from './gateway.js'
import { findKnee } from './knee.js'
import { report } from './report.js'
import { sentence } from './sentence.js'

/**
 * How many sensors this machine takes: a ramp of load on the whole way of a sample, in one gateway.
 *
 * @typedef {import('./knee.js').Judged} Judged
 */

const FULL = { seconds: 30, warmUpSeconds: 10 }
const QUICK = { seconds: 6, warmUpSeconds: 2 }
const LEAST = 200
const MOST = 1_000_000
const P99_MS = 1000
const P99_TIMES = 4
/** Databases whose sinks gather rows for so long, unless they are told otherwise, since each write costs them much. */
export const GATHERING = ['clickhouse', 'duckdb', 'influxdb', 'file']
const GATHERING_MS = 1000
/** About, and what each takes beside its seconds. */
const STEPS = 16
const BESIDES_SECONDS = 1.5

/** @type {import('../study.js').Study} */
export const capacity = {
  id: 'capacity',
  title: 'How many sensors this machine takes',
  paper: 'Of no paper: a ramp of load on a whole gateway, from simulated sensors at 10 Hz over spool and embedded broker to the database.',

  plan ({ isFull, sweep }) {
    const { databases = ['sqlite'], sensors = [LEAST, MOST], p99Ms, p99Times = P99_TIMES } = sweep
    const { seconds = FULL.seconds, warmUpSeconds = FULL.warmUpSeconds } = isFull ? sweep : { ...QUICK, ...sweep }
    const [least, most = MOST] = sensors
    const cells = databases.map((/** @type {string} */ database) => ({
      id: database,
      label: `into ${database}`,
      parameters: {
        database,
        least,
        most,
        p99Ms: p99Ms ?? P99_MS + (GATHERING.includes(database) ? GATHERING_MS : 0),
        p99Times,
        seconds,
        warmUpSeconds
      },
      seconds: STEPS * (seconds + warmUpSeconds + BESIDES_SECONDS)
    }))
    return { cells, cut: [] }
  },

  missing: async ({ parameters }, servers) => (await benchOf(parameters.database)).missing(servers),

  async measure ({ parameters }, { servers, folder, signal, shared, outside, progress }) {
    const { database, least, most, seconds, warmUpSeconds, p99Ms, p99Times } = /** @type {any} */ (parameters)
    const running = await shared(async within => (await benchOf(database)).start(within, servers))
    const gateways = new Gateways(folder, running)
    const stepSeconds = seconds + warmUpSeconds + BESIDES_SECONDS
    try {
      const knee = await findKnee({
        least,
        most,
        bounds: { p99Ms, p99Times },
        signal,
        async measure (sensors, { isAnew }) {
          if (isAnew) await gateways.renew()
          return outside(() => gateways.measure(sensors, { seconds, warmUpSeconds, signal }))
        },
        progress: (step, stepsLeft) => progress(inShort(step), stepsLeft * stepSeconds)
      })
      const { version, settings } = running
      const found = sentence(knee, { version, seconds })
      progress(found, 0)
      const notes = [found, ...running.note ? [running.note] : []]
      return { ...measuredOf(knee), version, settings, notes, ...!knee.isOver && { isPartial: true } }
    } finally {
      await gateways.end()
    }
  },

  report
}

/** One after the other, each with an empty database. */
class Gateways {
  #folder
  #running
  #count = 0
  /** @type {RampGateway|null} */
  #gateway = null

  /** @param {string} folder @param {import('../../sinks/sink-bench.js').Running} running */
  constructor (folder, running) {
    this.#folder = folder
    this.#running = running
  }

  async renew () {
    await this.end()
    await this.#running.clear()
    this.#gateway = await RampGateway.start(join(this.#folder, `gateway-${++this.#count}`), this.#running)
  }

  /** @param {Parameters<RampGateway['measure']>} asked */
  async measure (...asked) { return /** @type {RampGateway} */ (this.#gateway).measure(...asked) }

  async end () {
    const gateway = this.#gateway
    this.#gateway = null
    await gateway?.end()
    await rm(join(this.#folder, `gateway-${this.#count}`), { recursive: true, force: true })
  }
}

/** @param {import('./knee.js').Knee} knee @returns {Pick<import('../study.js').Measured, 'measures'|'samples'>} */
function measuredOf ({ steps, last, first }) {
  const names = [...new Set(steps.flatMap(({ measures }) => Object.keys(measures)))]
  return {
    measures: {
      ...last && { sensors: last.sensors, p50Ms: last.p50Ms, p99Ms: last.p99Ms, ...last.measures },
      ...first && { brokenSensors: first.sensors },
      lastStep: last ? steps.indexOf(last) : -1,
      firstBrokenStep: first ? steps.indexOf(first) : -1
    },
    samples: {
      sensors: steps.map(({ sensors }) => sensors),
      p50Ms: steps.map(({ p50Ms }) => p50Ms),
      p99Ms: steps.map(({ p99Ms }) => p99Ms),
      waitingRows: steps.map(({ waitingRows }) => waitingRows.at(-1) ?? NaN),
      ...Object.fromEntries(names.map(name => [name, steps.map(({ measures }) => measures[name] ?? NaN)]))
    }
  }
}

/** @param {Judged} step */
function inShort ({ sensors, p99Ms, measures: { cpuPercent }, broken }) {
  const figures = [
    Number.isFinite(p99Ms) && `p99 ${Math.round(p99Ms)} ms`,
    cpuPercent !== undefined && `${Math.round(cpuPercent)} % of a core`
  ]
  return `${sensors.toLocaleString('en-US')} sensors: ${broken ?? figures.filter(Boolean).join(', ')}`
}
