import { join } from 'node:path'
import { History } from '../../gateway/history/history.js'
import { Stats } from '../../gateway/stats/stats.js'

export const STEP_MS = 10_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const START_MS = Date.parse('2026-03-01T00:00:00Z')

/** A gateway with a clock that is made up, and what it does in ten seconds. */
export class MadeUpGateway {
  nowMs = START_MS
  /** Never put back. */
  monotonicMs = 0
  stats = new Stats()
  /** @type {string[]} */
  said = []

  /** @param {string} folder @param {{maxBytes?: number, path?: () => string}} [options] */
  constructor (folder, { maxBytes, path = () => join(folder, 'history') } = {}) {
    this.folder = join(folder, 'history')
    this.options = { maxBytes, folder: path }
    this.history = this.open()
  }

  open () {
    const say = (/** @type {string} */ text) => { this.said.push(text) }
    return new History({
      ...this.options,
      stats: this.stats,
      log: { info: say, warn: say },
      nowMs: () => this.nowMs,
      monotonicMs: () => this.monotonicMs
    })
  }

  /** Ended, and begun again. */
  async restart () {
    await this.history.close()
    this.history = this.open()
  }

  /** Nothing is recorded. @param {number} steps */
  pause (steps) {
    this.nowMs += steps * STEP_MS
    this.monotonicMs += steps * STEP_MS
  }

  /** @param {number} count  steps @param {(step: number) => void} [work]  in each */
  async run (count, work = () => {}) {
    for (let step = 0; step < count; step++) {
      this.pause(1)
      work(step)
      await this.history.record()
    }
  }

  /** One series. @param {string} key @param {number} fromMs @param {number} toMs @param {number} [points] */
  async values (key, fromMs, toMs, points = 2000) {
    const { series } = await this.history.query({ fromMs, toMs, points }, [key])
    return series[key]
  }

  /** The last steps. @param {string} key @param {number} count */
  last (key, count) { return this.values(key, this.nowMs - count * STEP_MS, this.nowMs) }
}
