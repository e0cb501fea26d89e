import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {import('../plan.js').Event} Event
 *
 * @typedef {object} Process
 * @property {(event: Event) => Promise<void>} kill
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
   * @param {Event} event
   * @param {AbortSignal} signal  no more
   * @param {() => Promise<void>} [whileDown]
   */
  async kill (event, signal, whileDown) {
    await this.#process.kill(event)
    this.started = this.#startAgain(event.downMs, signal, whileDown)
    this.started.catch(() => {}) // whoever waits for it is told
  }

  /** @param {number} downMs @param {AbortSignal} signal @param {() => Promise<void>} [whileDown] */
  async #startAgain (downMs, signal, whileDown) {
    await sleep(downMs, undefined, { signal })
    await whileDown?.()
    await this.#process.start()
  }
}
