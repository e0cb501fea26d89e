import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The database that is measured, with what is stored in it: what a writer has written is read by the readers after it. Each writer
 * begins with a server of its own and an empty data folder, as in the paper.
 *
 * @typedef {import('../../sinks/sink-bench.js').Running} Running
 * @typedef {import('./writer.js').Stored} Stored
 */

export class Stand {
  /** @type {Running|null} */
  #running = null
  /** @type {{what: string, stored: Stored}|null} */
  #held = null
  #folder
  #begin
  #servers = 0

  /** @param {string} folder @param {(folder: string) => Promise<Running>} begin */
  constructor (folder, begin) {
    this.#folder = folder
    this.#begin = begin
  }

  /** @returns {Promise<Running>} with nothing in it */
  async empty () {
    await this.remove()
    const folder = join(this.#folder, String(++this.#servers))
    await mkdir(folder)
    this.#running = await this.#begin(folder)
    return this.#running
  }

  /** What a writer has stored. @param {string} what @param {Stored} stored */
  hold (what, stored) { this.#held = { what, stored } }

  /** @param {string} what @returns {{running: Running, stored: Stored}|null} null where it holds something else, or nothing */
  holding (what) {
    return this.#running && this.#held?.what === what ? { running: this.#running, stored: this.#held.stored } : null
  }

  async remove () {
    const running = this.#running
    this.#running = this.#held = null
    await running?.remove()
  }
}
