import { RangeSet } from '../batch/ranges.js'

/**
 * Commit records: what a sink's tables hold, as rows of ranges of `seq` per table, gateway, source and epoch. A batch's record is a range
 * of one.
 *
 * @typedef {{table: string, gateway: string, source: string, epoch: string, seq: number, last: number}} CommitRow
 * @typedef {import('./sink.js').Committed} Committed
 * @typedef {import('./sink.js').Head} Head
 */

/**
 * @param {CommitRow[]} rows
 * @returns {Committed[]} sorted by gateway, source and epoch
 */
export function committedRanges (rows) {
  return [...byEpoch(rows).values()].map(records => {
    const { gateway, source, epoch } = records[0]
    const { ranges } = new RangeSet(records.map(({ seq, last }) => [seq, last]))
    return { gateway, source, epoch, ranges }
  })
}

/**
 * The records that take the place of all records within them: those below what a spool still holds, and all of an epoch which no spool
 * holds any more. Gaps stay gaps.
 * @param {CommitRow[]} rows
 * @param {Head[]} heads
 * @returns {CommitRow[]} only those that replace more than one
 */
export function mergedRecords (rows, heads) {
  const firstHeld = new Map(heads.map(head => [epochKey(head), head.first]))
  return [...byEpoch(rows)].flatMap(([key, records]) => {
    const below = records.filter(({ last }) => last < (firstHeld.get(key) ?? Infinity))
    const starts = new Set(below.map(({ seq, last }) => `${seq} ${last}`))
    return new RangeSet(below.map(({ seq, last }) => [seq, last])).ranges
      .filter(([seq, last]) => !starts.has(`${seq} ${last}`))
      .map(([seq, last]) => ({ ...records[0], seq, last }))
  })
}

/** One string for an identity, whatever its parts contain. @param {import('../batch/batch.js').Identity} identity */
export function recordKey ({ gateway, source, epoch, seq }) {
  return JSON.stringify([gateway, source, epoch, seq])
}

/** @param {CommitRow[]} rows @returns {Map<string, CommitRow[]>} in the order of their keys and seq */
function byEpoch (rows) {
  const groups = Map.groupBy(rows, epochKey)
  for (const group of groups.values()) group.sort((a, b) => a.seq - b.seq)
  return new Map([...groups].sort(([a], [b]) => a < b ? -1 : 1))
}

/** @param {{gateway: string, source: string, epoch: string}} of */
function epochKey ({ gateway, source, epoch }) {
  return JSON.stringify([gateway, source, epoch])
}
