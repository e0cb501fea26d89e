import { columnBytes } from '../../gateway/batch/batch-bytes.js'
import { Joint } from '../../gateway/batch/join.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 *
 * @typedef {object} GatheringOptions
 * @property {(batch: Batch) => Promise<unknown>} append  to the spool, which takes what it is given in order
 * @property {number} maxRows
 * @property {number} maxBytes  about
 * @property {number} maxAgeMs  0: nothing waits
 *
 * @typedef {{joint: Joint, bytes: number, dueMs: number, done: PromiseWithResolvers<Map<Batch, unknown>>}} Heap
 */

/**
 * Brokers send no more before so many messages are acknowledged: the smallest window that is usual is 20. When this many wait and none
 * has come for a moment, no more may come before they are in the spool.
 */
const MANY_WAITING = 8
const QUIET_MS = 5
/** So many rows, of as long a time as others wait, have gathered where they come from. */
const MANY_ROWS = 100
const NS_PER_MS = 1_000_000n

/**
 * Rows of a source wait for each other, a little, in front of the spool: together they are one record, one message and one commit record.
 * They go in by rows, bytes or age, whichever comes first, in the order in which they came.
 */
export class Gathering {
  #options
  /** What waits, oldest first. @type {Map<string, Heap>} by source */
  #heaps = new Map()
  #messages = 0
  #lastMs = 0
  /** @type {NodeJS.Timeout|undefined} */
  #ageTimer
  /** @type {NodeJS.Timeout|undefined} */
  #quietTimer

  /** @param {GatheringOptions} options */
  constructor (options) {
    this.#options = options
  }

  /**
   * A message is under way, whose sender may wait for it to be done.
   * @template T
   * @param {() => Promise<T>} work
   */
  async message (work) {
    this.#lastMs = performance.now()
    if (++this.#messages >= MANY_WAITING && !this.#quietTimer) this.#quietTimer = setTimeout(this.#onQuiet, QUIET_MS)
    try {
      return await work()
    } finally {
      this.#messages--
    }
  }

  /**
   * Resolves once the spool has all of it.
   * @param {Batch} batch
   */
  async append (batch) {
    const { append, maxRows, maxBytes, maxAgeMs } = this.#options
    const { source } = batch
    if (maxAgeMs === 0) return append(batch)
    if (!this.#heaps.get(source)?.joint.takes(batch)) this.#flush(source)
    if (!this.#heaps.has(source) && hasGathered(batch, maxAgeMs)) return append(batch)
    const heap = this.#heaps.get(source) ?? this.#begin(source)
    heap.joint.add(batch)
    heap.bytes += columnBytes(batch)
    if (heap.joint.rows >= maxRows || heap.bytes >= maxBytes) this.#flush(source)
    const failed = await heap.done.promise
    if (failed.has(batch)) throw failed.get(batch)
  }

  /** What waits goes into the spool now. */
  flush () {
    for (const source of this.#heaps.keys()) this.#flush(source)
  }

  /** @param {string} source */
  #begin (source) {
    const { maxAgeMs } = this.#options
    /** @type {Heap} */
    const heap = { joint: new Joint(), bytes: 0, dueMs: performance.now() + maxAgeMs, done: Promise.withResolvers() }
    this.#heaps.set(source, heap)
    this.#ageTimer ??= setTimeout(this.#onAge, maxAgeMs)
    return heap
  }

  /** @param {string} source */
  #flush (source) {
    const heap = this.#heaps.get(source)
    if (!heap) return
    this.#heaps.delete(source)
    if (this.#heaps.size === 0) {
      clearTimeout(this.#ageTimer)
      this.#ageTimer = undefined
    }
    this.#store(heap.joint).then(heap.done.resolve)
  }

  /** @param {Joint} joint @returns {Promise<Map<Batch, unknown>>} why some could not be stored */
  async #store (joint) {
    const { append } = this.#options
    const { batches } = joint
    try {
      await append(joint.batch())
      return new Map()
    } catch (error) {
      if (batches.length === 1) return new Map([[batches[0], error]])
    }
    // One that the spool does not accept must not cost the others.
    const results = await Promise.allSettled(batches.map(append))
    return new Map(results.flatMap((result, i) => result.status === 'rejected' ? [[batches[i], result.reason]] : []))
  }

  #onAge = () => {
    this.#ageTimer = undefined
    const now = performance.now()
    for (const [source, { dueMs }] of this.#heaps) {
      if (dueMs > now) {
        this.#ageTimer = setTimeout(this.#onAge, dueMs - now)
        return
      }
      this.#flush(source)
    }
  }

  #onQuiet = () => {
    this.#quietTimer = undefined
    if (this.#messages < MANY_WAITING) return
    const quietMs = performance.now() - this.#lastMs
    if (quietMs >= QUIET_MS) this.flush()
    else this.#quietTimer = setTimeout(this.#onQuiet, QUIET_MS - quietMs)
  }
}

/** @param {Batch} batch @param {number} ms */
function hasGathered ({ rows, time }, ms) {
  return rows >= MANY_ROWS && time[rows - 1] - time[0] >= BigInt(ms) * NS_PER_MS
}
