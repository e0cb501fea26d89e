import { createHash } from 'node:crypto'
import { counterOf } from '../batch/epochs.js'
import { addHashes } from '../batch/hashes.js'

/**
 * Commit records: what a sink's tables hold, as rows of disjoint ranges of `seq` per table, gateway, source and epoch. A batch's record is
 * a range of one.
 *
 * @typedef {{table: string, gateway: string, source: string, epoch: string}} Stream
 * @typedef {{hash: number, staged: number, stored: number, dead: number}} Sums  over the batches of a record
 * @typedef {Stream & Sums & {seq: number, last: number, before: number}} CommitRow  `before` of its first batch
 * @typedef {import('./sink.js').CommitRecord} CommitRecord
 * @typedef {import('./sink.js').Head} Head
 */

/** What sinks with a table of commit records keep there, besides sink_table. */
export const RECORD_NAMES = /** @type {const} */ (['gateway', 'source', 'epoch'])
export const RECORD_NUMBERS = /** @type {const} */ (['seq', 'last', 'hash', 'staged', 'stored', 'dead', 'before'])

/** The record that names a database, by when it was left. @param {string} id @returns {CommitRow} */
export function storeRecord (id) {
  return { table: '', gateway: id, source: '', epoch: '', seq: Date.now(), last: 0, hash: 0, staged: 0, stored: 0, dead: 0, before: 0 }
}

/**
 * @param {CommitRow[]} rows
 * @returns {CommitRecord[]} sorted by gateway, source, epoch (by its counter) and first
 */
export function committedRecords (rows) {
  return [...byStream(rows).values()].flat().map(({ gateway, source, epoch, seq, last, hash, staged, stored, dead, before }) =>
    ({ gateway, source, epoch, first: seq, last, hash, staged, stored, dead, before }))
}

/**
 * The records that take the place of all records within them: those below what a spool still holds, and all of an epoch which no spool
 * holds any more. Gaps stay gaps, unless nothing comes into them, and what counts no rows stays apart from what does: it is no proof that
 * rows are stored.
 * @param {CommitRow[]} rows
 * @param {Head[]} heads
 * @returns {CommitRow[]} only those that replace more than one
 */
export function mergedRecords (rows, heads) {
  const held = new Map(heads.map(head => [epochKey(head), head]))
  return [...byStream(rows).values()].flatMap(records => {
    const { first = Infinity, sparseFrom = Infinity } = held.get(epochKey(records[0])) ?? {}
    /** @type {{row: CommitRow, count: number}[]} */
    const merged = []
    for (const row of records) {
      if (row.last >= first) break
      const into = merged.at(-1)
      const isAlike = into && countsRows(into.row) === countsRows(row)
      const isNext = into && (into.row.last === row.seq - 1 || into.row.last + 1 >= sparseFrom)
      if (isAlike && isNext) merged.splice(-1, 1, { row: sum(into.row, row), count: into.count + 1 })
      else merged.push({ row, count: 1 })
    }
    return merged.filter(({ count }) => count > 1).map(({ row }) => row)
  })
}

/**
 * One string for an identity, whatever its parts contain.
 * @param {{gateway: string, source: string, epoch: string, seq: number}} identity
 */
export function recordKey ({ gateway, source, epoch, seq }) {
  return JSON.stringify([gateway, source, epoch, seq])
}

/** Not of an identity whose rows are, or will be, stored under another: they were staged again. @param {{staged: number}} record */
export function countsRows ({ staged }) {
  return staged > 0
}

/** One string for what shares a table, gateway, source and epoch. @param {Stream} of */
export function streamKey ({ table, gateway, source, epoch }) {
  return JSON.stringify([table, gateway, source, epoch])
}

/** Likewise of 43 letters, for databases whose keys have a limit. @param {Stream} of */
export function streamHash (of) {
  return createHash('sha256').update(streamKey(of)).digest('base64url')
}

/** Of two that follow each other. @param {CommitRow} a @param {CommitRow} b @returns {CommitRow} */
function sum (a, b) {
  return {
    ...a, last: b.last, hash: addHashes(a.hash, b.hash), staged: a.staged + b.staged, stored: a.stored + b.stored, dead: a.dead + b.dead
  }
}

/**
 * In order, and without those within another: where a database has no transactions, these may be there for a while after merging.
 * @param {CommitRow[]} rows
 * @returns {Map<string, CommitRow[]>}
 */
function byStream (rows) {
  const streams = Map.groupBy(rows.toSorted(inOrder), streamKey)
  for (const [key, records] of streams) {
    let end = -1
    streams.set(key, records.filter(({ last }) => last > end && (end = last) >= 0))
  }
  return streams
}

/** @param {CommitRow} a @param {CommitRow} b */
function inOrder (a, b) {
  return compare(a.gateway, b.gateway) || compare(a.source, b.source) || counterOf(a.epoch) - counterOf(b.epoch) ||
    compare(a.epoch, b.epoch) || compare(a.table, b.table) || a.seq - b.seq || b.last - a.last
}

/** @param {string} a @param {string} b */
function compare (a, b) {
  return a < b ? -1 : a > b ? 1 : 0
}

/** @param {{gateway: string, source: string, epoch: string}} of */
function epochKey ({ gateway, source, epoch }) {
  return JSON.stringify([gateway, source, epoch])
}
