import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * @typedef {object} ProcessReport
 * @property {number} cpuPercent  of one core, over the interval
 * @property {number|null} cpuMicrosecondsPerValue  null when no value passed
 * @property {number} rssBytes
 * @property {number} heapBytes
 * @property {number} eventLoopDelayMs  99th percentile over the interval: how long callbacks had to wait for their turn
 * @property {number} uptimeSeconds
 */

/** A finer one wakes the process more often: 20 ms would take 0.3 % of a core. */
const RESOLUTION_MS = 50

/** What this process uses of the machine between two readings. */
export class ProcessReader {
  #cpu = process.cpuUsage()
  #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor () {
    this.#delay.enable()
  }

  /** @param {number} intervalMs @param {number} values  that passed meanwhile @returns {ProcessReport} */
  read (intervalMs, values) {
    const { user, system } = process.cpuUsage(this.#cpu)
    const cpuMicroseconds = user + system
    this.#cpu = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const delayMs = this.#delay.count > 0 ? this.#delay.percentile(99) / 1e6 - RESOLUTION_MS : 0
    this.#delay.reset()
    return {
      cpuPercent: intervalMs > 0 ? cpuMicroseconds / intervalMs / 10 : 0,
      cpuMicrosecondsPerValue: values > 0 ? cpuMicroseconds / values : null,
      rssBytes: rss,
      heapBytes: heapUsed,
      eventLoopDelayMs: Math.max(0, delayMs),
      uptimeSeconds: process.uptime()
    }
  }

  close () {
    this.#delay.disable()
  }
}
