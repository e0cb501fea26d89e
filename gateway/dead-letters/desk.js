import { SluiceError } from '../base/errors.js'
import { toBatches } from './dead-letter.js'
import { newEpoch, replayed } from './replay.js'

/**
 * @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue
 * @typedef {import('./dead-letter.js').DeadLetter} DeadLetter
 * @typedef {import('./replay.js').ReplayId} ReplayId
 * @typedef {import('../batch/batch.js').Batch} Batch
 */

const PAGE = 1000

/** What is being replayed, by whichever desk: a dead letter must not go out twice. @type {WeakSet<DeadLetterQueue>} */
const replaying = new WeakSet()

/** What can be done with the dead letters of some sinks. */
export class DeadLetterDesk {
  #queues
  #accept

  /**
   * @param {() => [sink: string, queue: DeadLetterQueue][]} queues
   * @param {(batch: Batch, sink: string) => Promise<unknown>} accept  a batch to replay; resolves once its rows are safe elsewhere
   */
  constructor (queues, accept) {
    this.#queues = queues
    this.#accept = accept
  }

  get count () {
    return this.#queues().reduce((sum, [, { count }]) => sum + count, 0)
  }

  /**
   * @param {{sink?: string, offset?: number, limit?: number}} [page]
   * @returns {Promise<{count: number, deadLetters: (DeadLetter & {sink: string})[]}>} oldest first, sink by sink; `count` is of all
   */
  async list ({ sink, offset = 0, limit = 100 } = {}) {
    const queues = this.#of(sink)
    const deadLetters = []
    let skip = offset
    for (const [name, queue] of queues) {
      const page = await queue.list({ offset: skip, limit: limit - deadLetters.length })
      deadLetters.push(...page.map(deadLetter => ({ sink: name, ...deadLetter })))
      skip = Math.max(0, skip - queue.count)
    }
    return { count: queues.reduce((sum, [, queue]) => sum + queue.count, 0), deadLetters }
  }

  /** @param {{key: string, sink?: string}} wanted @throws {SluiceError} SLUICE_DEAD_LETTER_UNKNOWN */
  async show ({ key, sink }) {
    for (const [name, queue] of this.#of(sink)) {
      const deadLetter = await queue.get(key)
      if (deadLetter) return { sink: name, ...deadLetter }
    }
    throw unknown([key])
  }

  /**
   * Replays rows, as batches of an identity of their own, and removes each from its queue once it is safe. What fails stays. What an
   * earlier replay of chosen rows has begun is ended first, with all that was on its way together.
   * @param {{sink?: string, keys?: string[]}} [chosen]  all, without keys
   * @returns {Promise<{replayed: number}>} rows
   * @throws {SluiceError} SLUICE_DEAD_LETTER_UNKNOWN before anything is replayed, SLUICE_REPLAY_RUNNING
   */
  async replay ({ sink, keys } = {}) {
    const queues = this.#of(sink)
    const known = new Set(queues.flatMap(([, queue]) => queue.keys))
    const notFound = keys?.filter(key => !known.has(key)) ?? []
    if (notFound.length > 0) throw unknown(notFound)
    const wanted = keys && new Set(keys)
    let rows = 0
    const failures = []
    for (const [name, queue] of queues) {
      try {
        rows += await this.#replayFrom(name, queue, wanted ? queue.keys.filter(key => wanted.has(key)) : queue.keys)
      } catch (error) {
        failures.push(error) // one sink that is away holds up no other
      }
    }
    if (failures.length > 0) throw failures[0]
    return { replayed: rows }
  }

  /** @param {string} sink @param {DeadLetterQueue} queue @param {string[]} keys  in its order @returns {Promise<number>} rows */
  async #replayFrom (sink, queue, keys) {
    if (replaying.has(queue)) throw new SluiceError('SLUICE_REPLAY_RUNNING', `The dead letters of "${sink}" are being replayed already.`)
    replaying.add(queue)
    try {
      return await this.#replayAll(sink, queue, keys)
    } finally {
      replaying.delete(queue)
    }
  }

  /** @param {string} sink @param {DeadLetterQueue} queue @param {string[]} keys @returns {Promise<number>} rows */
  async #replayAll (sink, queue, keys) {
    const left = new Set(keys)
    let rows = 0
    for (const { replay, keys: begun } of queue.replays.filter(each => each.keys.some(key => left.has(key)))) {
      const [{ batch, origins }] = toBatches(await lettersOf(queue, begun))
      rows += await this.#handOver(sink, queue, { batch, keys: begun, origins }, replay)
      for (const key of begun) left.delete(key)
    }
    const epoch = newEpoch()
    const rest = [...left]
    for (let i = 0, seq = 0; i < rest.length; i += PAGE) {
      for (const some of toBatches(await lettersOf(queue, rest.slice(i, i + PAGE)))) {
        const replay = { epoch, seq: seq++ }
        await queue.beginReplay({ replay, keys: some.keys })
        rows += await this.#handOver(sink, queue, some, replay)
      }
    }
    return rows
  }

  /**
   * @param {string} sink
   * @param {DeadLetterQueue} queue
   * @param {{batch: Batch, keys: string[], origins: import('./dead-letter.js').Origin[]}} letters
   * @param {ReplayId} replay
   */
  async #handOver (sink, queue, { batch, keys, origins }, replay) {
    await this.#accept(replayed(batch, replay, origins), sink)
    await queue.replayed(keys)
    return keys.length
  }

  /** @param {string|undefined} sink @throws {SluiceError} SLUICE_DEAD_LETTER_SINK */
  #of (sink) {
    const queues = this.#queues()
    if (!sink) return queues
    const found = queues.filter(([name]) => name === sink)
    if (found.length > 0) return found
    const names = queues.map(([name]) => name).join(', ')
    throw new SluiceError('SLUICE_DEAD_LETTER_SINK', `No sink named "${sink}" is open here.`, {
      fix: names ? `Those that are: ${names}.` : 'No sink is open.'
    })
  }
}

/** @param {DeadLetterQueue} queue @param {string[]} keys @returns {Promise<DeadLetter[]>} */
async function lettersOf (queue, keys) {
  const letters = await Promise.all(keys.map(key => queue.get(key)))
  return letters.filter(letter => letter !== undefined)
}

/** @param {string[]} keys */
function unknown (keys) {
  const more = keys.length > 3 ? ` and ${keys.length - 3} more` : ''
  return new SluiceError('SLUICE_DEAD_LETTER_UNKNOWN', `There is no dead letter ${keys.slice(0, 3).join(', ')}${more}.`, {
    fix: 'It may have been replayed: list shows those that are left.'
  })
}
