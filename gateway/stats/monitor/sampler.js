import { describe } from '../../base/errors.js'
import { summarise } from './summary.js'

/**
 * @typedef {import('./usage.js').Monitor} Monitor
 * @typedef {import('./usage.js').Sample} Sample
 */

const INTERVAL_MS = 1000
/** Four hours at one a second; beyond that, every other one is kept, and so on. */
const MAX_SAMPLES = 14_400

/**
 * A series of samples, at an interval. Those of the beginning and the end have everything that can be read; a reading that fails, as of a
 * remote host that is away, is left out: counters go on.
 */
export class Sampler {
  /** @type {Sample[]} */
  samples = []
  /** Readings that failed. */
  failed = 0
  /** @type {string|null} why, the last of them */
  lastError = null
  #monitor
  #intervalMs
  #maxSamples
  #beginning = 0
  /** @type {Promise<void>|null} */
  #reading = null
  /** @type {NodeJS.Timeout|undefined} */
  #timer

  /** @param {Monitor} monitor @param {{intervalMs?: number, maxSamples?: number}} [options] */
  constructor (monitor, { intervalMs = INTERVAL_MS, maxSamples = MAX_SAMPLES } = {}) {
    this.#monitor = monitor
    this.#intervalMs = intervalMs
    this.#maxSamples = maxSamples
  }

  /** @throws what the first reading throws: there is nothing to watch then */
  async start () {
    this.samples.push(await this.#monitor.read({ fresh: true }))
    this.#beginning = performance.now()
    this.#schedule()
  }

  /** @returns {Promise<Sample[]>} with a last one of now */
  async stop () {
    clearTimeout(this.#timer)
    await this.#reading
    await this.#read(true)
    // A rate over a moment says nothing: ticks of 10 ms in it would be many percent.
    const [before, last] = this.samples.slice(-2)
    const isMoment = this.samples.length > 2 && (last.elapsedSeconds - before.elapsedSeconds) * 1000 < this.#intervalMs / 2
    if (isMoment) this.samples.splice(-2, 1)
    return this.samples
  }

  /** Of the samples so far. */
  summary () { return summarise(this.samples) }

  /** To the next beat of the interval: a slow reading is followed by no burst of others. */
  #schedule () {
    const waitMs = this.#intervalMs - (performance.now() - this.#beginning) % this.#intervalMs
    this.#timer = setTimeout(() => {
      this.#schedule()
      this.#reading ??= this.#read(false).finally(() => { this.#reading = null })
    }, waitMs)
    this.#timer.unref()
  }

  /** @param {boolean} fresh */
  async #read (fresh) {
    try {
      this.samples.push(await this.#monitor.read({ fresh }))
    } catch (error) {
      this.failed++
      this.lastError = describe(error)
    }
    if (this.samples.length > this.#maxSamples) {
      this.samples = this.samples.filter((_, i) => i % 2 === 0)
      this.#intervalMs *= 2
    }
  }
}
