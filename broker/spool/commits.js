import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { syncFolder } from './segment.js'

/**
 * The sinks that must have stored a batch before it may leave the spool, and what each says it has stored. Kept in the spool's folder:
 * a sink that once announced itself is waited for, over restarts, until it is forgotten.
 *
 * The commits are a copy that may be old: an old one only means that something is kept, or sent, once more.
 */
export class Commits {
  /** @type {Map<string, Map<string, RangeSet>>} sink → epoch → stored */
  sinks = new Map()
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
  }

  /**
   * The sink's word replaces what was known: a database that was set back needs again what it has lost.
   * @param {string} sink
   * @param {Record<string, Iterable<[number, number]>>} epochs
   * @returns {boolean} whether the sink is new
   */
  set (sink, epochs) {
    const isNew = !this.sinks.has(sink)
    this.sinks.set(sink, new Map(Object.entries(epochs).map(([epoch, ranges]) => [epoch, new RangeSet(ranges)])))
    return isNew
  }

  /** @param {string} sink */
  forget (sink) {
    return this.sinks.delete(sink)
  }

  /**
   * The first seq of `first`…`last` that some required sink has not stored; null when all have all. With no sinks nothing is stored.
   * @param {string} epoch
   * @param {number} first
   * @param {number} last
   * @param {RangeSet} lost  what is not there to be stored
   */
  firstOpen (epoch, first, last, lost) {
    if (this.sinks.size === 0) return first
    let lowest = Infinity
    for (const epochs of this.sinks.values()) {
      const stored = epochs.get(epoch) ?? new RangeSet()
      const gap = stored.missing(first, last).flatMap(([from, to]) => lost.missing(from, to))[0]
      if (gap) lowest = Math.min(lowest, gap[0])
    }
    return lowest === Infinity ? null : lowest
  }

  /** Written whole beside the old file and renamed over it. */
  save () {
    this.#saving = this.#saving.catch(() => {}).then(async () => {
      const text = JSON.stringify(Object.fromEntries([...this.sinks].map(([sink, epochs]) => [sink, Object.fromEntries(epochs)])))
      await replaceFile(this.#path, text)
    })
    return this.#saving
  }
}

/**
 * Replaces a small file so that, whatever happens, either the old or the new content is there.
 * @param {string} path
 * @param {string} text
 */
export async function replaceFile (path, text) {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w')
  try {
    await file.writeFile(text)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(path)
}
