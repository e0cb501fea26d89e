import { Batch } from './batch.js'
import { KeyCounts } from './key-counts.js'
import { rowKeys } from './row-keys.js'

/** How long a row is remembered at least, unless more of them come than there is room for. */
export const LOOK_BACK_MS = 10_000
/** So many rows are remembered at least. */
export const MAX_REMEMBERED = 2 ** 17

/** From so many rows on, those in order of time wait: a few would take more memory than their keys. */
const MIN_WAITING = 64

/**
 * Distinguishes rows of one source that have the same tags and time, for databases to which these are the key of a row: the second of them
 * is number 1, the third number 2, whatever batches they come in. A batch of rows that are unique, as nearly all are, has no numbers.
 *
 * A row is remembered for 10 to 20 s, or until 131,072 to 262,144 others have come, as a hash of 64 bits: should two that differ have the
 * same one, the later gets a number that it does not need.
 */
export class Numbering {
  #nowMs
  #turnedMs
  #young = new Generation()
  #old = new Generation()

  /** @param {{nowMs?: () => number}} [options]  monotonic */
  constructor ({ nowMs = () => performance.now() } = {}) {
    this.#nowMs = nowMs
    this.#turnedMs = nowMs()
  }

  /** The batch with the numbers of its rows, which are remembered. @param {Batch} batch @returns {Batch} */
  numbered (batch) {
    const elapsedMs = this.#nowMs() - this.#turnedMs
    if (elapsedMs >= LOOK_BACK_MS) this.#turn()
    if (elapsedMs >= 2 * LOOK_BACK_MS) this.#turn()
    const ordinals = this.#isNewer(batch) ? null : this.#count(batch)
    return ordinals || batch.ordinals ? new Batch({ ...batch, ordinals }) : batch
  }

  /** Rows that were numbered before this process began; the newest first. @param {Batch} batch @returns {boolean} whether there is room */
  remember ({ ordinals, ...batch }) {
    const { counts } = this.#young
    const keys = rowKeys(batch)
    for (let row = 0; row < batch.time.length && counts.size < MAX_REMEMBERED; row++) {
      counts.raise(keys[2 * row], keys[2 * row + 1], 1 + (ordinals?.[row] ?? 0))
    }
    this.#young.reach(batch)
    return counts.size < MAX_REMEMBERED
  }

  /** The last rows that were numbered are not staged: they come again, or not at all. @param {Batch} batch */
  forget (batch) {
    const keys = rowKeys(batch)
    for (let row = batch.rows - 1; row >= 0; row--) {
      this.#young.counted(batch.source).takeBack(keys[2 * row], keys[2 * row + 1], batch.ordinals?.[row] ?? 0)
    }
  }

  /** Whether its rows are in order, and later than all that is remembered of its source: nothing is to be compared. @param {Batch} batch */
  #isNewer (batch) {
    const { source, time, rows } = batch
    if (rows < MIN_WAITING || !isAscending(time)) return false
    const first = Number(time[0]) // to the next 256 ns: at worst, rows are compared in vain
    if (first <= this.#young.latest(source) || first <= this.#old.latest(source)) return false
    if (this.#young.rows >= MAX_REMEMBERED) this.#turn()
    this.#young.wait(batch)
    return true
  }

  /** For each row, how many of the same key came before; null where none did. @param {Batch} batch */
  #count (batch) {
    const { source, rows } = batch
    const keys = rowKeys(batch)
    let counts = this.#young.counted(source)
    let older = this.#old.counted(source)
    /** @type {Int32Array|null} */
    let ordinals = null
    for (let row = 0; row < rows; row++) {
      if (this.#young.rows >= MAX_REMEMBERED) {
        this.#turn()
        older = counts
        counts = this.#young.counted(source)
      }
      const before = counts.add(keys[2 * row], keys[2 * row + 1], older)
      if (before > 0) (ordinals ??= new Int32Array(rows))[row] = before
    }
    this.#young.reach(batch)
    return ordinals
  }

  #turn () {
    [this.#young, this.#old] = [this.#old, this.#young]
    this.#young.clear()
    this.#turnedMs = this.#nowMs()
  }
}

/** Rows that came within some seconds. */
class Generation {
  counts = new KeyCounts()
  /** Not counted yet. @type {Map<string, Pick<Batch, 'source'|'tags'|'time'>[]>} */
  #waiting = new Map()
  #waitingRows = 0
  /** @type {Map<string, number>} by source */
  #latest = new Map()

  get rows () { return this.counts.size + this.#waitingRows }

  /** The latest time of all rows of a source. @param {string} source */
  latest (source) { return this.#latest.get(source) ?? -Infinity }

  /** @param {Pick<Batch, 'source'|'time'>} batch */
  reach ({ source, time }) {
    const { low, high } = halvesOf(time)
    let latest = this.latest(source)
    for (let at = 0; at < low.length; at += 2) latest = Math.max(latest, high[at + 1] * 2 ** 32 + low[at])
    this.#latest.set(source, latest)
  }

  /** They are counted when something is to be compared with them. @param {Batch} batch  in order of time */
  wait ({ source, tags, time }) {
    const waiting = this.#waiting.get(source)
    const own = { source, tags, time: time.slice() } // not all that the batch is a part of
    if (waiting) waiting.push(own)
    else this.#waiting.set(source, [own])
    this.#waitingRows += time.length
    this.#latest.set(source, Number(time[time.length - 1]))
  }

  /** With all rows of a source. @param {string} source */
  counted (source) {
    for (const batch of this.#waiting.get(source) ?? []) {
      const keys = rowKeys(batch)
      for (let at = 0; at < keys.length; at += 2) this.counts.raise(keys[at], keys[at + 1], 1)
      this.#waitingRows -= batch.time.length
    }
    this.#waiting.delete(source)
    return this.counts
  }

  clear () {
    this.counts.clear()
    this.#waiting.clear()
    this.#waitingRows = 0
    this.#latest.clear()
  }
}

/**
 * The low halves, at even places, and the high ones, at odd places: to work with BigInts takes ten times as long.
 * @param {BigInt64Array} time
 */
function halvesOf ({ buffer, byteOffset, length }) {
  return { low: new Uint32Array(buffer, byteOffset, 2 * length), high: new Int32Array(buffer, byteOffset, 2 * length) }
}

/** @param {BigInt64Array} time */
function isAscending (time) {
  const { low, high } = halvesOf(time)
  for (let at = 2; at < low.length; at += 2) {
    if (high[at + 1] < high[at - 1] || (high[at + 1] === high[at - 1] && low[at] <= low[at - 2])) return false
  }
  return true
}
