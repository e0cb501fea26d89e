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
 * @typedef {{joint: Joint, guests: G[], rows: number[], dueMs: number}} Heap
 */

/** Where very many sources send, their rows wait longer: more than 2000 records a second leave no time for anything else. */
const MS_PER_SOURCE = 0.5
const MAX_SOURCES_MS = 1000
/** So many rows, of as long a time as others wait, have gathered where they come from. */
const MANY_ROWS = 100
const NS_PER_MS = 1_000_000n

/**
 * Rows of a source wait for each other, a little, in front of the spool: together they are one record, one message and one commit record.
 * They go in by rows, bytes or age, whichever comes first, in the order in which they came.
 * @template G  who brings them
 */
export class Gathering {
  #options
  /** What waits, oldest first. @type {Map<string, Heap<G>>} by source */
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

  /** @param {Batch} batch @param {G} guest  is given to `store` with it */
  take (batch, guest) {
    const { store, maxRows, maxBytes, maxAgeMs, maxMessages = Infinity } = this.#options
    const { source, rows } = batch
    if (maxAgeMs === 0) return store({ batch, guests: [guest], rows: [rows] })
    let heap = this.#heaps.get(source)
    if (!heap?.joint.takes(batch)) {
      this.#flush(source)
      if (hasGathered(batch, maxAgeMs)) return store({ batch, guests: [guest], rows: [rows] })
      heap = this.#begin(source)
    }
    const { joint, guests } = heap
    joint.add(batch)
    guests.push(guest)
    heap.rows.push(rows)
    if (joint.rows >= maxRows || joint.bytes >= maxBytes) this.#flush(source)
    if (this.#gathered >= maxMessages) this.flush()
  }

  /** What waits goes into the spool now. */
  flush () {
    for (const source of this.#heaps.keys()) this.#flush(source)
    this.#gathered = 0
  }

  /** @param {string} source */
  #begin (source) {
    const { maxAgeMs } = this.#options
    const ageMs = Math.max(maxAgeMs, Math.min(this.#heaps.size * MS_PER_SOURCE, MAX_SOURCES_MS))
    /** @type {Heap<G>} */
    const heap = { joint: new Joint(), guests: [], rows: [], dueMs: performance.now() + ageMs }
    this.#heaps.set(source, heap)
    this.#ageTimer ??= setTimeout(this.#onAge, ageMs)
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
      this.#gathered = 0
    }
    const { joint, guests, rows } = heap
    this.#options.store({ batch: joint.batch(), guests, rows })
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
