import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {import('../plan.js').Kill} Kill
 *
 * @typedef {object} Process
 * @property {(kill: Kill) => Promise<void>} kill
 * @property {() => Promise<void>|void} start  resolves when it can be killed again
 * @property {() => Promise<void>} [running]  resolves when it does its work, where that is later
 */

/** A process that is killed and started again. */
export class Victim {
  #process
  /** Resolves when it has been started again. */
  started = Promise.resolve()

  /** @param {string} title  as users know it @param {Process} process */
  constructor (title, process) {
    this.title = title
    this.#process = process
  }

  /** Resolves when it does its work. */
  async running () {
    await this.started
    await this.#process.running?.()
  }

  /**
   * Kills it; it is started again later.
   * @param {Kill} kill
   * @param {AbortSignal} signal  no more
   */
  async kill (kill, signal) {
    await this.#process.kill(kill)
    this.started = this.#startAgain(kill.downMs, signal)
    this.started.catch(() => {}) // whoever waits for it is told
  }

  /** @param {number} downMs @param {AbortSignal} signal */
  async #startAgain (downMs, signal) {
    await sleep(downMs, undefined, { signal })
    await this.#process.start()
  }
}
