import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../gateway/base/files.js'
import { restOf } from './sources.js'

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
 * @typedef {[name: string, rest: import('./sources.js').Rest, streams: SavedStream[]]} SavedSource
 *
 * @typedef {object} State
 * @property {number} version
 * @property {number} counter  of epochs
 * @property {string[]} removed  segments that were being removed
 * @property {SavedSource[]} sources
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
   * @returns {Promise<State|null>} null when there is none; a damaged one is kept aside
   */
  async load (log) {
    let text
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error)
      if (code === 'ENOENT') return null
      if (code !== 'EIO') throw error // it may be sound all the same: a right to read it is missing, say
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

/**
 * @param {object} spool
 * @param {import('./sources.js').Sources} spool.sources
 * @param {import('./confirmations.js').Confirmations} spool.confirmations
 * @param {{key: string}[]} spool.required
 * @param {Iterable<string>} spool.removing
 * @param {number} spool.counter
 * @returns {State}
 */
export function stateOf ({ sources, confirmations, required, removing, counter }) {
  return {
    version: STATE_VERSION,
    counter,
    removed: [...removing],
    sources: [
      ...Array.from(sources.inUse.values(), source => /** @type {SavedSource} */ ([source.name, restOf(source), savedStreams(source)])),
      ...Array.from(sources.resting, ([name, rest]) => /** @type {SavedSource} */ ([name, rest, []]))
    ],
    sinks: confirmations.save(sources.streams(), new Set(required.map(({ key }) => key)))
  }
}

/** @param {import('./sources.js').Source} source @returns {SavedStream[]} */
function savedStreams ({ streams }) {
  return [...streams.values()].filter(({ isEmpty }) => !isEmpty).map(stream => ({
    gateway: stream.gateway,
    epoch: stream.epoch,
    start: stream.start,
    end: stream.end,
    gone: stream.gone.ranges.map(([first, last]) => [first, last, stream.rowsOf(first, last)]),
    replaced: stream.replaced.ranges
  }))
}

/** @param {any} state @returns {State} @throws where its shape is not what this program writes */
function checked (state) {
  const isMark = (/** @type {any} */ mark) => Number.isSafeInteger(mark.seq) && Number.isSafeInteger(mark.rows)
  const isStream = (/** @type {any} */ { start, end, gone, replaced }) => {
    return isMark(start) && isMark(end) && Array.isArray(gone) && Array.isArray(replaced)
  }
  const isSource = (/** @type {any} */ [name, { totals }, streams]) => {
    return typeof name === 'string' && totals.every(Number.isSafeInteger) && streams.every(isStream)
  }
  const isSound = Number.isSafeInteger(state.counter) && [state.removed, state.sinks].every(Array.isArray) && state.sources.every(isSource)
  if (!isSound) throw new TypeError('state of a spool')
  return state
}
