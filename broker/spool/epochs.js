import { randomBytes } from 'node:crypto'
import { counterOf } from '../../gateway/batch/epochs.js'
import { Stream } from './stream.js'

/** @typedef {import('./sources.js').Source} Source */

/** An epoch of more batches is followed by a later counter, on which `gateway/databases/upsert/timestamps.js` counts. */
const BATCHES_A_COUNT = 2048

/**
 * Which epoch the next batch of a source belongs to. A seq must not continue over a restart: after a power cut the files may have lost what
 * a database has already stored.
 */
export class Epochs {
  #epoch = ''
  /** The counter of the newest. */
  count = 0

  /**
   * @param {object} options
   * @param {string} options.gateway
   * @param {string} options.mark  in their names: whose they are
   * @param {import('./sources.js').Sources} options.sources
   * @param {() => Promise<void>} options.save  the count, before the name is used
   */
  constructor (options) {
    this.options = options
  }

  /** Whether one must begin before a batch can have its identity. */
  get isDue () { return this.#epoch === '' || this.options.sources.hasForgotten }

  /** The next batch of every source begins a new one. */
  startAll () {
    const { sources } = this.options
    this.#epoch = ''
    sources.current.clear()
    for (const source of sources.inUse.values()) source.stream = null
  }

  /**
   * Its counter is greater than those before: of this spool, and, as far as the clock is right, of one that was lost, or is now set back.
   * Where rows replace others, those of its epochs, too, must be told older and newer.
   */
  async begin () {
    const { sources, save, mark } = this.options
    const passed = Array.from(sources.lengths(), ([epoch, batches]) => counterOf(epoch) + Math.ceil(batches / BATCHES_A_COUNT))
    this.count = Math.max(this.count + 1, Math.floor(Date.now() / 1000), ...passed)
    await save()
    this.#epoch = `${this.count}-${mark}${randomBytes(4).toString('hex')}`
    sources.hasForgotten = false
    sources.current.add(this.#epoch)
    sources.begun.add(this.#epoch)
  }

  /** The epoch that a source is in; null where one must begin first. @param {Source} source */
  streamOf (source) {
    if (source.stream) return source.stream
    const { gateway, sources } = this.options
    const stream = new Stream(gateway, source, this.#epoch)
    if (source.streams.has(this.#epoch) || sources.hasNumber(stream.number)) {
      this.#epoch = ''
      return null
    }
    source.stream = stream
    source.streams.set(stream.epoch, stream)
    source.prune()
    return stream
  }
}
