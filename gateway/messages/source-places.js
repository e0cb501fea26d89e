import { SluiceError } from '../base/errors.js'

/** How long a source that has nothing in the spool keeps its place when others need it. */
const SILENT_MS = 600_000

/**
 * The sources of one stage node. Each gets a spool, a topic and tables, so whoever invents names must not have as many as he likes; and a
 * flood of them must not keep the places for ever: when all are taken, the source that is silent for longest gives way to a new one.
 */
export class SourcePlaces {
  /** When each was heard last, the longest silent first. @type {Map<string, number>} */
  #heardMs = new Map()
  #max
  #silentMs
  #isEmpty
  #now

  /**
   * @param {object} options
   * @param {number} options.max
   * @param {Iterable<string>} options.sources  that have a place already
   * @param {(source: string) => boolean} options.isEmpty  whether nothing of it waits to be stored
   * @param {number} [options.silentMs]
   * @param {() => number} [options.now]  monotonic, in milliseconds
   */
  constructor ({ max, sources, isEmpty, silentMs = SILENT_MS, now = () => performance.now() }) {
    this.#max = max
    this.#isEmpty = isEmpty
    this.#silentMs = silentMs
    this.#now = now
    for (const source of sources) this.#heardMs.set(source, now())
  }

  /** @param {string} source  of a batch @throws {SluiceError} SLUICE_SOURCE_COUNT */
  admit (source) {
    const isKnown = this.#heardMs.delete(source)
    if (!isKnown && this.#heardMs.size >= this.#max && !this.#freeOne()) {
      throw new SluiceError('SLUICE_SOURCE_COUNT', `More than ${this.#max} sources in one stage node; "${source}" is refused.`, {
        fix: 'Put what varies into a field or tag, not into the source name; or raise the limit in the form.'
      })
    }
    this.#heardMs.set(source, this.#now())
  }

  #freeOne () {
    const silentSinceMs = this.#now() - this.#silentMs
    for (const [source, heardMs] of this.#heardMs) {
      if (heardMs > silentSinceMs) return false
      if (this.#isEmpty(source)) return this.#heardMs.delete(source)
    }
    return false
  }
}
