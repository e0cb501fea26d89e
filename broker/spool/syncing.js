import { describe } from '../../gateway/base/errors.js'

/**
 * @typedef {object} SyncingOptions
 * @property {string} folder  of the spool
 * @property {import('./spool.js').FsyncPolicy} fsync
 * @property {number} fsyncIntervalMs
 * @property {() => Promise<void>} sync  forces to disk what was written
 * @property {() => Promise<void>} save  what the sinks have stored, where that has changed
 * @property {import('../../gateway/base/log.js').Log} log
 */

/** What the sinks have stored is saved now and then: an older copy only means that something is sent once more. */
const SAVE_MS = 10_000

/** Brings to the disk in its time what need not be there at once. What fails is logged, and tried again. */
export class Syncing {
  /** @type {NodeJS.Timeout|undefined} */
  #saveTimer
  /** Runs while something was written that is not forced to disk. @type {NodeJS.Timeout|undefined} */
  #syncTimer
  #isClosed = false
  #options

  /** @param {SyncingOptions} options */
  constructor (options) {
    this.#options = options
  }

  start () {
    const { save } = this.#options
    this.#saveTimer = setInterval(() => { save().catch(error => this.#warn('saving', error)) }, SAVE_MS).unref()
    this.written()
  }

  /** It is forced to disk within the interval. */
  written () {
    const { fsync, fsyncIntervalMs, sync } = this.#options
    if (fsync !== 'interval' || this.#isClosed) return
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined
      sync().catch(error => {
        this.#warn('fsync', error)
        this.written()
      })
    }, fsyncIntervalMs).unref()
  }

  close () {
    clearInterval(this.#saveTimer)
    clearTimeout(this.#syncTimer)
    this.#isClosed = true
  }

  /** @param {string} what @param {unknown} error */
  #warn (what, error) {
    const { folder, log } = this.#options
    log.error(`Spool ${folder}: ${what} failed: ${describe(error)}`)
  }
}
