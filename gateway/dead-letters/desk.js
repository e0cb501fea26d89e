import { SluiceError } from '../base/errors.js'
import { replay } from './replay.js'

/**
 * @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue
 * @typedef {import('./dead-letter.js').DeadLetter} DeadLetter
 * @typedef {import('../batch/batch.js').Batch} Batch
 */

/** Who is being replayed, by whichever desk: a letter must not go out twice. @type {WeakSet<DeadLetterQueue>} */
const replaying = new WeakSet()

/** What can be done with the dead letters of some sinks. */
export class DeadLetterDesk {
  #stores
  #handOver

  /**
   * @param {() => [string, DeadLetterQueue][]} stores  by the sink's name
   * @param {(batch: Batch) => Promise<void>} handOver  resolves once the rows are safe elsewhere
   */
  constructor (stores, handOver) {
    this.#stores = stores
    this.#handOver = handOver
  }

  get count () {
    return this.#stores().reduce((sum, [, { count }]) => sum + count, 0)
  }

  /**
   * @param {{sink?: string, offset?: number, limit?: number}} [page]
   * @returns {Promise<{count: number, deadLetters: (DeadLetter & {sink: string})[]}>} oldest first, sink by sink; `count` is of all
   */
  async list ({ sink, offset = 0, limit = 100 } = {}) {
    const stores = this.#of(sink)
    const deadLetters = []
    let skip = offset
    for (const [name, store] of stores) {
      const letters = await store.list({ offset: skip, limit: limit - deadLetters.length })
      deadLetters.push(...letters.map(letter => ({ sink: name, ...letter })))
      skip = Math.max(0, skip - store.count)
    }
    return { count: stores.reduce((sum, [, store]) => sum + store.count, 0), deadLetters }
  }

  /** @param {{key: string, sink?: string}} wanted @throws {SluiceError} SLUICE_DEAD_LETTER_UNKNOWN */
  async show ({ key, sink }) {
    for (const [name, store] of this.#of(sink)) {
      const letter = await store.get(key)
      if (letter) return { sink: name, ...letter }
    }
    throw unknown([key])
  }

  /**
   * Hands rows over, as batches that will get a new identity, and takes each off the list once it is safe. What fails stays.
   * @param {{sink?: string, keys?: string[]}} [chosen]  all, without keys
   * @returns {Promise<{replayed: number}>} rows
   * @throws {SluiceError} SLUICE_DEAD_LETTER_UNKNOWN before anything is handed over, SLUICE_REPLAY_RUNNING
   */
  async replay ({ sink, keys } = {}) {
    const stores = this.#of(sink)
    const known = new Set(stores.flatMap(([, store]) => store.keys))
    const strangers = keys?.filter(key => !known.has(key)) ?? []
    if (strangers.length > 0) throw unknown(strangers)
    let replayed = 0
    for (const [name, store] of stores) replayed += await this.#replayStore(name, store, keys)
    return { replayed }
  }

  /** @param {string} name @param {DeadLetterQueue} store @param {string[]|undefined} keys */
  async #replayStore (name, store, keys) {
    if (replaying.has(store)) throw new SluiceError('SLUICE_REPLAY_RUNNING', `The dead letters of "${name}" are being replayed already.`)
    replaying.add(store)
    try {
      const own = keys ? store.keys.filter(key => keys.includes(key)) : null
      return (await replay(store, own, this.#handOver)).replayed
    } finally {
      replaying.delete(store)
    }
  }

  /** @param {string|undefined} sink @throws {SluiceError} SLUICE_DEAD_LETTER_SINK */
  #of (sink) {
    const stores = this.#stores()
    if (!sink) return stores
    const found = stores.filter(([name]) => name === sink)
    if (found.length > 0) return found
    const names = stores.map(([name]) => name).join(', ')
    throw new SluiceError('SLUICE_DEAD_LETTER_SINK', `No sink named "${sink}" is open here.`, { fix: `There ${names ? `is: ${names}` : 'is none'}.` })
  }
}

/** @param {string[]} keys */
function unknown (keys) {
  const more = keys.length > 3 ? ` and ${keys.length - 3} more` : ''
  return new SluiceError('SLUICE_DEAD_LETTER_UNKNOWN', `There is no dead letter ${keys.slice(0, 3).join(', ')}${more}.`, { fix: 'It may have been replayed: list shows those that are left.' })
}
