import { SluiceError, describe } from '../../gateway/base/errors.js'
import { voidRecords } from '../../gateway/flow/delivery.js'

/**
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
  /** @type {Sink|null} */
  #opened = null
  /** @type {() => void} */
  #release = () => {}
  #isClosed = false

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
  async prepare (batches) { return (await this.sink()).prepare(batches) }

  /** Asked before anything is written: when it fails, that is why nothing is. @type {Sink['committed']} */
  async committed () {
    try {
      const committed = await (await this.sink()).committed()
      this.problem = null
      return committed
    } catch (error) {
      this.problem = describe(error)
      throw error
    }
  }

  /** What was set back is read again before anything is written: then it goes on. @type {Sink['write']} */
  async write (batches, options) {
    const sink = await this.sink()
    const { true: unwanted = [], false: wanted = [] } = Object.groupBy(batches, batch => `${voidRecords.has(batch)}`)
    try {
      const { duplicates, clashes } = await sink.write(wanted, options)
      return { duplicates: [...duplicates, ...unwanted], clashes }
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== 'SLUICE_SINK_SET_BACK') throw error
      this.onSetBack()
      await sink.committed()
      throw error
    }
  }

  /** @type {Sink['compact']} */
  async compact (heads) { return (await this.sink()).compact(heads) }

  /** What a user must not overlook. */
  notice () { return this.#opened?.notice?.() ?? '' }

  /** It is not opened again: its lease of a server would never be returned. */
  async close () {
    this.#isClosed = true
    const sink = await this.#opening?.catch(() => null)
    await sink?.close()
    this.#release()
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
