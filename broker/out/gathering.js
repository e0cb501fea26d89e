import { Joint } from '../../gateway/batch/join.js'
import { Senders } from './senders.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 */

/**
 * What a heap of rows has become, and whose they are.
 * @template G
 * @typedef {object} Gathered
 * @property {Batch} batch
 * @property {G[]} guests  whoever brought some
 * @property {number[]} rows  that each of them brought, in order
 */

/**
 * @template G
 * @typedef {object} GatheringOptions
 * @property {(gathered: Gathered<G>) => void} store  takes over what has gathered, in order
 * @property {number} maxRows
 * @property {number} maxBytes  about
 * @property {number} maxAgeMs  0: nothing waits
 * @property {number} [maxMessages]  so many gather at most
 */

/**
 * @template G
 * @typedef {{joint: Joint, guests: G[], rows: number[], dueMs: number, start: bigint|null}} Heap  `start` of its interval
 */

/** Where very many sources send, their rows wait longer: more than 2000 records a second leave no time for anything else. */
const MS_PER_SOURCE = 0.5
const MAX_SOURCES_MS = 1000
/** So many rows, of as long a time as others wait, have gathered where they come from. */
const MANY_ROWS = 100
const NS_PER_MS = 1_000_000n

/**
 * Rows of a source wait for each other, a little, in front of the spool: together they are one record, one message and one commit record.
 * They go in by rows, bytes or age, whichever comes first, in the order in which they came. Those that are said to
 * be of an interval wait for one of another interval, each set of tags by itself.
 * @template G  who brings them
 */
export class Gathering {
  #options
  /** What waits, oldest first. @type {Map<string, Heap<G>>} by source, or by source and tags */
  #heaps = new Map()
  #senders
  /** Those that have come since all went into the spool. */
  #gathered = 0
  /** @type {NodeJS.Timeout|undefined} */
  #ageTimer
  /** @type {NodeJS.Timeout|undefined} */
  #pauseTimer

  /** @param {GatheringOptions<G>} options */
  constructor (options) {
    this.#options = { maxMessages: Infinity, ...options }
    this.#senders = new Senders(options.maxAgeMs)
  }

  /** A message is under way, whose sender may wait for it to be done. */
  begin () {
    this.#senders.begin(performance.now())
    this.#gathered++
    if (this.#senders.areMany && !this.#pauseTimer) this.#onPause()
  }

  /** A message is done. */
  end () { this.#senders.end() }

  /**
   * @param {Batch} batch
   * @param {G} guest  is given to `store` with it
   * @param {bigint|null} [start]  of the interval that all its rows are of
   */
  take (batch, guest, start = null) {
    const { store, maxRows, maxBytes, maxAgeMs, maxMessages = Infinity } = this.#options
    const { source, rows } = batch
    if (maxAgeMs === 0) return store({ batch, guests: [guest], rows: [rows] })
    const key = start === null ? source : sourceAndTags(batch)
    let heap = this.#heaps.get(key)
    if (heap?.start !== start || !heap.joint.takes(batch)) {
      this.#flush(key)
      if (start === null && hasGathered(batch, maxAgeMs)) return store({ batch, guests: [guest], rows: [rows] })
      heap = this.#begin(key, start)
    }
    const { joint, guests } = heap
    joint.add(batch)
    guests.push(guest)
    heap.rows.push(rows)
    if (joint.rows >= maxRows || joint.bytes >= maxBytes) this.#flush(key)
    if (this.#gathered >= maxMessages) this.flush()
  }

  /** What waits goes into the spool now. */
  flush () {
    for (const key of this.#heaps.keys()) this.#flush(key)
    this.#gathered = 0
  }

  /** @param {string} key @param {bigint|null} start */
  #begin (key, start) {
    const { maxAgeMs } = this.#options
    const ageMs = Math.max(maxAgeMs, Math.min(this.#heaps.size * MS_PER_SOURCE, MAX_SOURCES_MS))
    /** @type {Heap<G>} */
    const heap = { joint: new Joint(), guests: [], rows: [], dueMs: performance.now() + ageMs, start }
    this.#heaps.set(key, heap)
    this.#ageTimer ??= setTimeout(this.#onAge, ageMs)
    return heap
  }

  /** @param {string} key */
  #flush (key) {
    const heap = this.#heaps.get(key)
    if (!heap) return
    this.#heaps.delete(key)
    if (this.#heaps.size === 0) {
      clearTimeout(this.#ageTimer)
      this.#ageTimer = undefined
      this.#gathered = 0
    }
    const { joint, guests, rows } = heap
    this.#options.store({ batch: joint.batch(), guests, rows })
  }

  #onAge = () => {
    this.#ageTimer = undefined
    const now = performance.now()
    for (const [key, { dueMs }] of this.#heaps) {
      if (dueMs > now) {
        this.#ageTimer = setTimeout(this.#onAge, dueMs - now)
        return
      }
      this.#flush(key)
    }
  }

  #onPause = () => {
    const leftMs = this.#senders.pauseLeftMs(performance.now())
    this.#pauseTimer = leftMs > 0 && leftMs < Infinity ? setTimeout(this.#onPause, leftMs) : undefined
    if (leftMs === 0) this.flush()
  }
}

/** @param {Batch} batch @param {number} ms */
function hasGathered ({ rows, time }, ms) {
  return rows >= MANY_ROWS && time[rows - 1] - time[0] >= BigInt(ms) * NS_PER_MS
}

/** Tags that vary by row are no set of their own. @param {Batch} batch */
function sourceAndTags ({ source, tags }) {
  return JSON.stringify([source, Object.entries(tags).map(([name, tag]) => [name, typeof tag === 'string' ? tag : null])])
}

/**
 * What each guest brought, as a batch of its own.
 * @template G
 * @param {Gathered<G>} gathered
 * @returns {Gathered<G>[]}
 */
export function apart ({ batch, guests, rows }) {
  let at = 0
  return guests.map((guest, i) => {
    const from = at
    at += rows[i]
    return { batch: guests.length === 1 ? batch : batch.slice(from, at), guests: [guest], rows: [rows[i]] }
  })
}
