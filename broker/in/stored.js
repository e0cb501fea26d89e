import { addHashes } from '../../gateway/batch/hashes.js'
import { RangeSet } from '../../gateway/batch/ranges.js'

/**
 * @typedef {import('../../gateway/databases/sink.js').CommitRecord} CommitRecord
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {[first: number, last: number, hash: number]} Run
 */

/** What a sink's database has of one source: its commit records as last read, and what was committed since that reading began. */
export class Stored {
  /** @type {Map<string, RangeSet>} epoch → batches */
  #batches = new Map()
  /** @type {Map<string, CommitRecord[]>} epoch → as read, in order */
  #read = new Map()
  /** @type {Map<string, Map<number, CommitRecord & {reading: number}>>} epoch → seq → not read yet */
  #since = new Map()
  #onChange

  /** @param {() => void} [onChange] */
  constructor (onChange = () => {}) {
    this.#onChange = onChange
  }

  /** @param {string} epoch @param {number} seq */
  has (epoch, seq) { return this.#batches.get(epoch)?.has(seq) ?? false }

  /** @param {string} epoch @param {number} first @param {number} last @returns {[number, number][]} */
  missing (epoch, first, last) {
    return this.#batches.get(epoch)?.missing(first, last) ?? (first <= last ? [[first, last]] : [])
  }

  /** The hash under which a batch is recorded, where that is still known: within a range only their sum is. @param {Identity} identity */
  hashOf ({ epoch, seq }) {
    const since = this.#since.get(epoch)?.get(seq)
    if (since) return since.hash
    const records = this.#read.get(epoch) ?? []
    let low = 0
    for (let high = records.length; low < high;) {
      const middle = (low + high) >>> 1
      if (records[middle].last < seq) low = middle + 1
      else high = middle
    }
    const record = records[low]
    return record?.first === seq && record.last === seq ? record.hash : undefined
  }

  /**
   * The database has committed a batch; what becomes of its rows is known with the next reading.
   * @param {Identity} identity
   * @param {number} reading  the number of the one that began last
   */
  add ({ gateway, source, epoch, seq, hash = 0, rows = 0, before = 0 }, reading) {
    if (this.has(epoch, seq)) return
    this.#onChange()
    const since = this.#since.get(epoch) ?? new Map()
    this.#since.set(epoch, since)
    since.set(seq, { gateway, source, epoch, first: seq, last: seq, hash, staged: rows, stored: rows, dead: 0, before, reading })
    this.#rangesOf(epoch).add(seq)
  }

  /**
   * The database has been read: that replaces all but what was committed since it began.
   * @param {CommitRecord[]} records  in order
   * @param {number} reading  its number
   * @returns {number} how many batches were known to be stored, and are not there
   */
  read (records, reading) {
    const [batches, since] = [this.#batches, this.#since]
    if (batches.size === 0 && records.length === 0) return 0
    this.#onChange()
    this.#batches = new Map()
    this.#since = new Map()
    this.#read = /** @type {Map<string, CommitRecord[]>} */ (Map.groupBy(records, ({ epoch }) => epoch))
    for (const { epoch, first, last } of records) this.#rangesOf(epoch).add(first, last)
    for (const commits of since.values()) {
      for (const commit of commits.values()) {
        if (commit.reading >= reading) this.add({ ...commit, seq: commit.first, rows: commit.staged }, commit.reading)
      }
    }
    let gone = 0
    for (const [epoch, { ranges }] of batches) {
      for (const [first, last] of ranges) for (const [from, to] of this.missing(epoch, first, last)) gone += to - from + 1
    }
    return gone
  }

  /** Another one after each reading. */
  get reading () { return this.#read }

  /** As read: of what was committed since then nobody knows yet how many rows are dead letters. @returns {CommitRecord[]} */
  get records () { return [...this.#read.values()].flat() }

  /**
   * What the reading has of an epoch, consecutive records merged except for those that a spool is in doubt of, and where it could not add
   * up the hashes: what it does not have may be on the other side.
   * @param {{epoch: string, doubt: [number, number][], cuts: Set<number>}} epoch
   * @param {number} limit
   * @returns {Run[]}
   */
  runs ({ epoch, doubt, cuts }, limit) {
    const doubtful = new RangeSet(doubt)
    /** @type {Run[]} */
    const runs = []
    let isSingle = true
    for (const { first, last, hash } of this.#read.get(epoch) ?? []) {
      const run = runs.at(-1)
      const [certain] = doubtful.missing(first, last)
      const isDoubtful = certain?.[0] !== first || certain[1] !== last
      if (run && run[1] === first - 1 && !isSingle && !isDoubtful && !cuts.has(first)) {
        run[1] = last
        run[2] = addHashes(run[2], hash)
      } else if (runs.length < limit) runs.push([first, last, hash])
      else break
      isSingle = isDoubtful
    }
    return runs
  }

  /** Something was committed after the reading began. */
  get hasUnread () { return this.#since.size > 0 }

  /** The newest batch of each epoch. */
  ends () {
    return [...this.#batches].map(([epoch, { ranges }]) => ({ epoch, last: ranges.at(-1)?.[1] ?? -1 }))
  }

  /** @param {string} epoch */
  #rangesOf (epoch) {
    let ranges = this.#batches.get(epoch)
    if (!ranges) this.#batches.set(epoch, ranges = new RangeSet())
    return ranges
  }
}
