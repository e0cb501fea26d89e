import { orAborted } from '../connecting/limits.js'
import { SET_BACK } from '../set-back.js'

/**
 * Only one transaction is under way at a time, and takes some round trips whatever is in it: writes that come meanwhile go into the next
 * one together.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').WriteResult} WriteResult
 * @typedef {(batches: Batch[], options?: {signal?: AbortSignal, probe?: boolean}) => Promise<WriteResult>} Write
 * @typedef {object} Waiting
 * @property {Batch[]} batches
 * @property {AbortSignal} [signal]
 * @property {(result: WriteResult) => void} resolve
 * @property {(error: unknown) => void} reject
 */

export class GatheredWrites {
  #write
  /** @type {Waiting[]} */
  #waiting = []
  #isWriting = false

  /** @param {Write} write */
  constructor (write) {
    this.#write = write
  }

  /** @type {Write} */
  async write (batches, options = {}) {
    const { signal, probe } = options
    if (probe) return this.#write(batches, options)
    const written = new Promise((resolve, reject) => { this.#waiting.push({ batches, signal, resolve, reject }) })
    if (!this.#isWriting) this.#writeOn()
    return orAborted(written, signal)
  }

  async #writeOn () {
    this.#isWriting = true
    while (this.#waiting.length > 0) await this.#writeTogether(this.#next())
    this.#isWriting = false
  }

  /** Each batch once: of one that comes twice, the answer could not tell which is the duplicate. */
  #next () {
    this.#waiting = this.#waiting.filter(({ signal }) => !signal?.aborted)
    const taken = new Set()
    const end = this.#waiting.findIndex(({ batches }) => {
      const isTaken = batches.some(batch => taken.has(batch))
      for (const batch of batches) taken.add(batch)
      return isTaken
    })
    return this.#waiting.splice(0, end === -1 ? Infinity : end)
  }

  /** @param {Waiting[]} group */
  async #writeTogether (group) {
    try {
      const { duplicates, clashes } = await this.#write(group.flatMap(({ batches }) => batches))
      for (const { batches, resolve } of group) {
        const isIts = (/** @type {Batch} */ batch) => batches.includes(batch)
        resolve({ duplicates: duplicates.filter(isIts), clashes: clashes.filter(isIts) })
      }
    } catch (error) {
      const isSetBack = /** @type {any} */ (error).code === SET_BACK
      if (isSetBack) group.push(...this.#waiting.splice(0)) // they were asked for before that was known, too
      if (isSetBack || group.length === 1) for (const { reject } of group) reject(error)
      else for (const each of group) await this.#writeTogether([each]) // what is wrong with one is not to stop the others
    }
  }
}
