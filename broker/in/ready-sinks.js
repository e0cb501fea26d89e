import { describe } from '../../gateway/base/errors.js'
import { retryWhile } from '../../gateway/base/backoff.js'

/** @typedef {import('./contract.js').SinkHandle} SinkHandle */

/**
 * Those of some sinks that run and whose databases have reported what they have stored. A database that does not answer is queried again,
 * without end.
 */
export class ReadySinks {
  /** @type {Map<string, SinkHandle>} */
  #ready = new Map()
  /** @type {PromiseWithResolvers<unknown>} resolves when a sink becomes ready, or on closing */
  #changed = Promise.withResolvers()
  #closed = false
  #options

  /**
   * @param {object} options
   * @param {string[]} options.names
   * @param {import('./contract.js').Sinks} options.registry
   * @param {(sink: string, committed: import('../../gateway/databases/sink.js').Committed[]) => void} options.onCommitted  what it has
   *   stored, before it counts as ready
   * @param {() => void} options.onChange  one has become ready, or is gone
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (options) {
    this.#options = options
    const { names, registry } = options
    registry.on('added', this.#query)
    registry.on('removed', this.#remove)
    for (const name of names) {
      const handle = registry.get(name)
      if (handle) this.#query(handle)
    }
  }

  get areAll () { return this.missing.length === 0 }

  /** @returns {string[]} */
  get missing () { return this.#options.names.filter(name => !this.#ready.has(name)) }

  /** @param {string} name */
  has (name) { return this.#ready.has(name) }

  [Symbol.iterator] () { return this.#ready.values() }

  /**
   * Stores a commit record of no rows. The batch's rows are stored, so it is tried until the sink is there and accepts it: to emit the
   * batch again would store them twice.
   * @param {string} sink
   * @param {import('../../gateway/batch/batch.js').Batch} record
   * @returns {Promise<void>} never rejects; resolves also when closed
   */
  mark (sink, record) {
    return retryWhile(() => !this.#closed, async () => {
      const handle = await this.#whenReady(sink)
      await handle?.write(record)
    }, error => this.#options.log.warn(`Sink "${sink}" could not record that it has dealt with a batch: ${describe(error)}`))
  }

  close () {
    this.#closed = true
    this.#options.registry.off('added', this.#query)
    this.#options.registry.off('removed', this.#remove)
    this.#changed.resolve(undefined)
  }

  /** A sink runs, or runs again. @param {SinkHandle} handle */
  #query = async handle => {
    const { names, registry, onCommitted, onChange, log } = this.#options
    if (!names.includes(handle.name)) return
    const isRunning = () => !this.#closed && registry.get(handle.name) === handle
    let logged = ''
    await retryWhile(isRunning, async () => {
      const committed = await handle.committed()
      if (!isRunning()) return
      onCommitted(handle.name, committed)
      this.#ready.set(handle.name, handle)
      this.#changed.resolve(undefined)
      this.#changed = Promise.withResolvers()
      onChange()
    }, error => {
      const problem = describe(error)
      if (problem !== logged) log.warn(`Sink "${handle.name}" cannot report what it has stored: ${problem}`)
      logged = problem
    })
  }

  /** @param {string} name */
  #remove = name => {
    if (this.#ready.delete(name)) this.#options.onChange()
  }

  /** @param {string} name @returns {Promise<SinkHandle|undefined>} undefined when closed before */
  async #whenReady (name) {
    while (!this.#closed && !this.#ready.has(name)) await this.#changed.promise
    return this.#ready.get(name)
  }
}
