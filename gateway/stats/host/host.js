import { SystemFiles } from '../monitor/system-files.js'
import { alarmsOf } from './alarms.js'
import { readCards } from './cards.js'
import { spaceOf } from './space.js'
import { readTemperature } from './temperature.js'
import { readThrottling } from './throttling.js'
import { readWritten } from './written.js'

/**
 * The machine's health: what ends a gateway that runs for years. What cannot be read is absent.
 *
 * @typedef {object} HostState  plain JSON
 * @property {number} [temperatureCelsius]  of the processor
 * @property {import('./throttling.js').Throttling} [throttling]  of a Raspberry Pi
 * @property {import('./cards.js').Card[]} cards
 * @property {import('./space.js').Space} [disk]  of the data folder
 * @property {import('./written.js').Written} [written]  to that disk
 *
 * @typedef {HostState & {alarms: import('./alarms.js').Alarm[]}} HostReport
 */

/** None of it changes faster. */
const INTERVAL_MS = 10_000

/**
 * @param {string} folder
 * @param {SystemFiles} [files]
 * @returns {Promise<HostState>}
 */
export async function readHost (folder, files = new SystemFiles()) {
  return {
    temperatureCelsius: readTemperature(files),
    throttling: readThrottling(files),
    cards: readCards(files),
    disk: await spaceOf(folder).catch(() => undefined),
    written: await readWritten(files, folder).catch(() => undefined)
  }
}

/** The state of the machine for whoever reads the stats: read anew in the background every ten seconds, and only while somebody does. */
export class Host {
  #folder
  #files
  #now
  #dueMs = -Infinity
  /** The newest there is; null at first. @type {HostReport|null} */
  #report = null

  /**
   * @param {string} folder  of the data
   * @param {{files?: SystemFiles, now?: () => number}} [options]  `now`: monotonic milliseconds
   */
  constructor (folder, { files, now = () => performance.now() } = {}) {
    this.#folder = folder
    this.#files = files
    this.#now = now
  }

  get report () {
    if (this.#now() >= this.#dueMs) {
      this.#dueMs = this.#now() + INTERVAL_MS
      this.refresh().catch(() => {}) // what was read before stays
    }
    return this.#report
  }

  async refresh () {
    const state = await readHost(this.#folder, this.#files)
    this.#report = { ...state, alarms: alarmsOf(state) }
    return this.#report
  }
}
