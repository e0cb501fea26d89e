import { committedRecords, mergedRecords, streamKey } from './commit-records.js'

/**
 * Commit records held in memory.
 *
 * @typedef {import('./commit-records.js').CommitRow} CommitRow
 * @typedef {import('./commit-records.js').Stream} Stream
 */
export class RecordSet {
  /** In the order of seq. @type {Map<string, CommitRow[]>} */
  #streams = new Map()

  /** The record that holds a batch's identity. @param {Stream & {seq: number}} identity */
  find (identity) {
    const rows = this.#streams.get(streamKey(identity)) ?? []
    const row = rows[search(rows, identity.seq + 1) - 1]
    return row?.last >= identity.seq ? row : undefined
  }

  /** It takes the place of those within it, unless it is within another itself. @param {CommitRow} row */
  add (row) {
    if (Number(this.find(row)?.last) > row.last) return
    const key = streamKey(row)
    const rows = this.#streams.get(key) ?? []
    if (rows.length === 0) this.#streams.set(key, rows)
    const from = search(rows, row.seq)
    let to = from
    while (to < rows.length && rows[to].last <= row.last) to++
    rows.splice(from, to - from, row)
  }

  /** Merges records below what a spool still holds. @param {import('./sink.js').Head[]} heads @param {(row: CommitRow) => boolean} isOwn */
  compact (heads, isOwn) {
    const merged = mergedRecords(this.rows.filter(isOwn), heads)
    for (const row of merged) this.add(row)
    return merged
  }

  /** @returns {CommitRow[]} */
  get rows () {
    return [...this.#streams.values()].flat()
  }

  /** @param {(row: CommitRow) => boolean} isOwn */
  committed (isOwn) {
    return committedRecords(this.rows.filter(isOwn))
  }
}

/** @param {Iterable<CommitRow>} rows */
export function setOf (rows) {
  const set = new RecordSet()
  for (const row of rows) set.add(row)
  return set
}

/** Index of the first row that begins at or after n. @param {CommitRow[]} rows @param {number} n */
function search (rows, n) {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows[middle].seq < n) low = middle + 1
    else high = middle
  }
  return low
}
