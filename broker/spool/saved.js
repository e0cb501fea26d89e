import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../gateway/base/files.js'

/**
 * What a spool knows and its segments do not say: totals, what was lost or staged again, what the sinks' databases have, the newest epoch.
 *
 * @typedef {object} SavedStream
 * @property {string} epoch
 * @property {string} gateway
 * @property {import('./stream.js').Mark} start
 * @property {import('./stream.js').Mark} end
 * @property {[first: number, last: number, rows: number][]} gone
 * @property {[first: number, last: number][]} replaced
 *
 * @typedef {object} State
 * @property {number} version
 * @property {number} counter  of epochs
 * @property {string[]} removed  segments that were being removed
 * @property {[name: string, rest: import('./sources.js').Rest, streams: SavedStream[]][]} sources
 * @property {import('./confirmations.js').SavedSinks} sinks
 */

export const STATE_VERSION = 1

/** The file of a spool's state. */
export class Saved {
  /** Something changed since it was last written. */
  isDirty = false
  #path
  #state
  /** @type {Promise<void>} */
  #saving = Promise.resolve()
  /** @type {Promise<void>|null} */
  #next = null

  /** @param {string} folder @param {() => State} state */
  constructor (folder, state) {
    this.#path = join(folder, 'saved.json')
    this.#state = state
  }

  /**
   * @param {import('../../gateway/base/log.js').Log} log
   * @returns {Promise<State|null>} null when there is none; one that cannot be read is kept aside
   */
  async load (log) {
    let text
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
      text = ''
    }
    try {
      const state = JSON.parse(text)
      if (state.version === STATE_VERSION) return checked(state)
    } catch {
      // so it is damaged, which is reported below
    }
    const aside = `${this.#path}.${Date.now()}.damaged`
    await rename(this.#path, aside).catch(() => {})
    log.error(`SLUICE_SPOOL_DAMAGED: the state of the spool cannot be read; it goes on with what its segments say. Kept as ${aside}.`)
    return null
  }

  /** Durably, as it is then. Several that ask at once share one write. */
  save () {
    this.#next ??= this.#saving.catch(() => {}).then(async () => {
      this.#next = null
      this.isDirty = false
      this.#saving = replaceFile(this.#path, JSON.stringify(this.#state())).catch(error => {
        this.isDirty = true
        throw error
      })
      await this.#saving
    })
    return this.#next
  }
}

/** @param {any} state @returns {State} @throws where its shape is not what this program writes */
function checked (state) {
  const isMark = (/** @type {any} */ mark) => Number.isSafeInteger(mark.seq) && Number.isSafeInteger(mark.rows)
  const isSound = Number.isSafeInteger(state.counter) && Array.isArray(state.removed) && Array.isArray(state.sinks) &&
    state.sources.every((/** @type {any} */ [name, { totals }, streams]) => typeof name === 'string' && totals.every(Number.isSafeInteger) &&
      streams.every((/** @type {any} */ { start, end, gone, replaced }) => isMark(start) && isMark(end) && Array.isArray(gone) && Array.isArray(replaced)))
  if (!isSound) throw new TypeError('state of a spool')
  return state
}
