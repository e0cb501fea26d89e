import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../gateway/base/files.js'
import { RangeSet } from '../../gateway/batch/ranges.js'

/**
 * The sinks that must have stored a batch before it may leave the spool, and what each reports as stored. Kept in the spool's folder:
 * a sink that once announced itself is waited for, over restarts, until it is forgotten.
 *
 * The ranges are a copy that may be old: an old one only means that something is kept, or sent, once more.
 */
export class RequiredSinks {
  /** @type {Map<string, Map<string, RangeSet>>} sink → epoch → stored */
  sinks = new Map()
  /** The names that are in the file, and so survive a restart; null while there is no file. @type {string[]|null} */
  saved = null
  #path
  /** @type {Promise<void>} */
  #saving = Promise.resolve()

  /** @param {string} folder */
  constructor (folder) {
    this.#path = join(folder, 'sinks.json')
  }

  async load () {
    /** @type {Record<string, Record<string, [number, number][]>>} */
    let sinks
    try {
      sinks = JSON.parse(await readFile(this.#path, 'utf8'))
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return
      throw error
    }
    for (const [sink, epochs] of Object.entries(sinks)) this.set(sink, epochs)
    this.saved = Object.keys(sinks)
  }

  /**
   * What the sink reports replaces what was known: a database that was set back needs again what it has lost.
   * @param {string} sink
   * @param {Record<string, Iterable<[number, number]>>} epochs
   * @returns {boolean} whether the sink is new, or lacks what it had: to be saved, so that the spool still keeps that after a restart
   */
  set (sink, epochs) {
    const before = this.sinks.get(sink)
    const now = new Map(Object.entries(epochs).map(([epoch, ranges]) => [epoch, new RangeSet(ranges)]))
    this.sinks.set(sink, now)
    return !before || [...before].some(([epoch, { ranges }]) => {
      return ranges.some(([first, last]) => now.get(epoch)?.missing(first, last).length !== 0)
    })
  }

  /** @param {string} sink */
  forget (sink) {
    return this.sinks.delete(sink)
  }

  /**
   * The seqs of `first`…`last` that some required sink has not stored. With no sinks nothing is stored.
   * @param {string} epoch
   * @param {number} first
   * @param {number} last
   * @param {RangeSet} lost  what is not there to be stored
   */
  open (epoch, first, last, lost) {
    /** @type {Map<string, RangeSet>[]} */
    const sinks = this.sinks.size > 0 ? [...this.sinks.values()] : [new Map()]
    const missing = sinks.flatMap(epochs => (epochs.get(epoch) ?? new RangeSet()).missing(first, last))
    return new RangeSet(missing.flatMap(([from, to]) => lost.missing(from, to)))
  }

  /** One after another, as the sinks are then. */
  save () {
    this.#saving = this.#saving.catch(() => {}).then(async () => {
      const sinks = Object.fromEntries([...this.sinks].map(([sink, epochs]) => [sink, Object.fromEntries(epochs)]))
      await replaceFile(this.#path, JSON.stringify(sinks))
      this.saved = Object.keys(sinks)
    })
    return this.#saving
  }
}
