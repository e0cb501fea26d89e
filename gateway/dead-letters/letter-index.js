import { identityKey } from '../batch/batch.js'
import { RangeSet } from '../batch/ranges.js'

/**
 * @typedef {import('./dead-letter.js').DeadLetter} DeadLetter
 * @typedef {import('./replay.js').Replay} Replay
 * @typedef {import('../base/line-file.js').Place & {source: string, isTruncated: boolean}} Place
 *
 * A line of the file: a letter; a replay that begins; the keys of letters that were replayed; or, for letters that are gone, the rows of a
 * batch that must not be stored any more.
 * @typedef {DeadLetter|Replay|{replayed: string[]}|{settled: string, rows: [number, number][]}} Line
 */

/** What the lines of a dead letters file add up to. */
export class LetterIndex {
  /** @type {Map<string, Place>} key → its line, oldest first */
  places = new Map()
  /** @type {Map<string, RangeSet>} batch → its rows that are, or were, dead letters */
  settled = new Map()
  /** Those that have begun, by the key of their first letter. @type {Map<string, Replay>} */
  replays = new Map()
  /** of lines that no longer matter */
  garbageBytes = 0
  /** @type {Map<string, number>} source → bytes of its letters */
  #bytes = new Map()

  /** @param {Line} line @param {import('../base/line-file.js').Place} place */
  add (line, place) {
    if ('replayed' in line) {
      this.garbageBytes += place.length
      for (const key of line.replayed) this.#remove(key)
    } else if ('replay' in line) {
      this.garbageBytes += place.length
      this.replays.set(line.keys[0], line)
    } else if ('settled' in line) {
      for (const [first, last] of line.rows) this.#settle(line.settled, first, last)
    } else {
      this.#remove(line.key)
      this.places.set(line.key, { ...place, source: line.source, isTruncated: line.truncatedFrom !== undefined })
      this.#count(line.source, place.length)
      if (line.identity) this.#settle(identityKey(line.identity), line.row)
    }
  }

  /** @param {DeadLetter} letter  whether it is, or was, there */
  knows ({ key, identity, row }) {
    return this.places.has(key) || (identity !== null && this.settled.get(identityKey(identity))?.has(row) === true)
  }

  /** @returns {Line[]} what has to be kept beside the letters themselves */
  otherLines () {
    return [...Array.from(this.settled, ([settled, { ranges }]) => ({ settled, rows: ranges })), ...this.replays.values()]
  }

  /** Those that have letters. */
  get sources () { return [...this.#bytes.keys()] }

  /** How much the letters of a source take. @param {string} source */
  bytesOf (source) {
    return this.#bytes.get(source) ?? 0
  }

  /** @param {string} source @param {number} bytes */
  #count (source, bytes) {
    const sum = this.bytesOf(source) + bytes
    if (sum > 0) this.#bytes.set(source, sum)
    else this.#bytes.delete(source)
  }

  /** @param {string} key */
  #remove (key) {
    const place = this.places.get(key)
    if (!place) return
    this.garbageBytes += place.length
    this.#count(place.source, -place.length)
    this.places.delete(key)
    this.replays.delete(key)
  }

  /** @param {string} batch @param {number} first @param {number} [last] */
  #settle (batch, first, last) {
    const rows = this.settled.get(batch) ?? new RangeSet()
    rows.add(first, last)
    this.settled.set(batch, rows)
  }
}
