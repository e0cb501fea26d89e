import { isMarker } from '../../gateway/batch/batch.js'
import { SluiceError, describe } from '../../gateway/base/errors.js'
import { SET_BACK, setBack } from '../../gateway/databases/set-back.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/databases/sink.js').Sink} Sink
 * @typedef {import('../../gateway/databases/sink.js').SinkModule} SinkModule
 */

/**
 * A sink that opens when it is first needed and again after it could not: a database that is not there yet is like one that went away,
 * and the writer's endless retry serves both.
 */
export class LazySink {
  /** @type {Promise<Sink>|null} */
  #opening = null
  /** @type {WeakSet<object>} */
  #openErrors = new WeakSet()
  /** Why it cannot be opened or asked now. @type {string|null} */
  problem = null

  /** Called when the database lacks what was committed. */
  onSetBack = () => {}
  /** How often it did. */
  #setBacks = 0
  /** Records of no rows, to be left: they vouch for rows stored before, and not when what was stored is gone. @type {Set<Batch>} */
  #markers = new Set()
  /** @type {Sink|null} */
  #opened = null
  /** @type {() => void} */
  #release = () => {}
  #isClosed = false
  #isAsked = false
  /** The database has said what it has stored: one may be open without a word from it. */
  hasAnswered = false
  /** Something was written since it was last asked what it has stored. */
  #isUnread = false

  /**
   * @param {() => Promise<{module: SinkModule, sink: Sink, release?: () => void}>} open  `release`: to be called once the sink is closed
   */
  constructor (open) {
    this.open = open
    /** @type {SinkModule|null} */
    this.module = null
  }

  /** @param {unknown} error */
  isTransient = error => this.#openErrors.has(/** @type {object} */ (error)) || (this.module?.isTransient(error) ?? true)

  /** @type {Sink['prepare']} */
  prepare (batches, options) { return this.#use(sink => sink.prepare(batches, options)) }

  /** Asked before anything is written: when it fails, that is why nothing is. @type {Sink['committed']} */
  async committed () {
    try {
      const setBacks = this.#setBacks
      const sink = await this.sink()
      this.#isUnread = false
      this.#isAsked = true
      const committed = await sink.committed()
      this.hasAnswered = true
      if (committed.isSetBack) this.#lack(setBacks)
      this.problem = null
      return committed
    } catch (error) {
      this.#isUnread = this.#opened !== null
      this.problem = describe(error)
      throw error
    }
  }

  /** @type {Sink['write']} */
  write (batches, options) {
    return this.#use(async sink => {
      const wanted = batches.filter(batch => !isMarker(batch) || this.#markers.has(batch))
      if (wanted.length === 0) return { duplicates: [], clashes: [] }
      this.#isUnread = true
      return sink.write(wanted, options)
    })
  }

  /** What it has stored, if nobody knows all of that. */
  unread () { return this.#isUnread ? this.committed() : null }

  /** @type {Sink['compact']} */
  compact (heads) { return this.#use(sink => sink.compact(heads)) }

  /** @type {NonNullable<Sink['span']>} */
  span () { return this.#use(async sink => await sink.span?.() ?? null) }

  /** @type {NonNullable<Sink['removeBefore']>} */
  removeBefore (before, most) { return this.#use(async sink => await sink.removeBefore?.(before, most) ?? 0) }

  /**
   * Of what writes a record of no rows.
   * @param {Batch} batch
   * @param {() => Promise<void>} write
   * @throws {SluiceError} SLUICE_SINK_SET_BACK: the record is not left
   */
  async vouching (batch, write) {
    if (!isMarker(batch)) return write()
    this.#markers.add(batch)
    try {
      await write()
      if (!this.#markers.has(batch)) throw setBack(`Source "${batch.source}"`)
    } finally {
      this.#markers.delete(batch)
    }
  }

  /** Whether it is open, nothing is known to be wrong, and no first answer is waited for. */
  get isWell () { return this.#opened !== null && this.problem === null && (this.hasAnswered || !this.#isAsked) }

  /** What a user must not overlook. */
  notice () { return this.#opened?.notice?.() ?? '' }

  /** @type {NonNullable<Sink['preparing']>} */
  preparing () { return this.#opened?.preparing?.() ?? null }

  /** It is not opened again: its lease of a server would never be returned. */
  async close () {
    this.#isClosed = true
    const sink = await this.#opening?.catch(() => null)
    await sink?.close()
    this.#release()
  }

  /**
   * What was set back is read again before anything is written: then it goes on.
   * @template T
   * @param {(sink: Sink) => Promise<T>} work
   */
  async #use (work) {
    const sink = await this.sink()
    const setBacks = this.#setBacks
    try {
      return await work(sink)
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== SET_BACK) throw error
      this.#lack(setBacks)
      await sink.committed()
      throw error
    }
  }

  /** @param {number} setBacks  of when that began which has found it out */
  #lack (setBacks) {
    if (setBacks !== this.#setBacks) return
    this.#setBacks++
    this.#markers.clear()
    this.onSetBack()
  }

  /** @returns {Promise<Sink>} */
  sink () {
    if (this.#isClosed) return Promise.reject(new SluiceError('SLUICE_SINK_CLOSED', 'The sink has been closed.'))
    this.#opening ??= this.open().then(({ module, sink, release = () => {} }) => {
      this.module = module
      this.#opened = sink
      this.#release = release
      this.problem = null
      return sink
    }).catch(error => {
      this.#opening = null
      this.problem = describe(error)
      if (error instanceof Error) this.#openErrors.add(error)
      throw error
    })
    return this.#opening
  }
}
