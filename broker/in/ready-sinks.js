import { describe } from '../../gateway/base/errors.js'
import { again } from '../../gateway/base/backoff.js'

/** @typedef {import('./contract.js').SinkHandle} SinkHandle */

/**
 * Those of some sinks that run and whose databases have told what they have stored. A database that does not answer is asked again, without
 * end.
 */
export class ReadySinks {
  /** @type {Map<string, SinkHandle>} */
  #ready = new Map()
  #closed = false
  #options

  /**
   * @param {object} options
   * @param {string[]} options.names
   * @param {import('./contract.js').Sinks} options.registry
   * @param {(sink: string, committed: import('../../gateway/databases/sink.js').Committed[]) => void} options.onTold  what it has stored,
   *   before it counts as ready
   * @param {() => void} options.onChange  one has become ready, or is gone
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (options) {
    this.#options = options
    const { names, registry } = options
    registry.on('added', this.#ask)
    registry.on('removed', this.#remove)
    for (const name of names) {
      const handle = registry.get(name)
      if (handle) this.#ask(handle)
    }
  }

  get areAll () { return this.missing.length === 0 }

  /** @returns {string[]} */
  get missing () { return this.#options.names.filter(name => !this.#ready.has(name)) }

  /** @param {string} name */
  get (name) { return this.#ready.get(name) }

  [Symbol.iterator] () { return this.#ready.values() }

  close () {
    this.#closed = true
    this.#options.registry.off('added', this.#ask)
    this.#options.registry.off('removed', this.#remove)
  }

  /** A sink runs, or runs again. @param {SinkHandle} handle */
  #ask = async handle => {
    const { names, registry, onTold, onChange, log } = this.#options
    if (!names.includes(handle.name)) return
    const isThere = () => !this.#closed && registry.get(handle.name) === handle
    let said = ''
    await again(async () => {
      const committed = await handle.committed()
      if (!isThere()) return
      onTold(handle.name, committed)
      this.#ready.set(handle.name, handle)
      onChange()
    }, {
      goesOn: isThere,
      onError: error => {
        const problem = describe(error)
        if (problem !== said) log.warn(`Sink "${handle.name}" cannot tell what it has stored: ${problem}`)
        said = problem
      }
    })
  }

  /** @param {string} name */
  #remove = name => {
    if (this.#ready.delete(name)) this.#options.onChange()
  }
}
