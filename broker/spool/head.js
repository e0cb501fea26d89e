/**
 * @typedef {[first: number, last: number, rows: number]} CountedRange
 * @typedef {object} EpochHead
 * @property {string} epoch
 * @property {number} first
 * @property {number} last  -1: nothing of it is held
 * @property {number} before  rows of the source before `first`
 * @property {number} rows  of the source up to `last`
 * @property {CountedRange[]} [lost]  between them, but cannot be sent: damaged, or removed before what is older
 * @property {CountedRange[]} [replaced]  staged again under other identities
 * @property {[number, number][]} [doubt]  the sum of some sink does not match: each record is to be reported alone
 *
 * @typedef {{source: string, rows: number, lost: number, dropped: number, replaced: number, epochs: EpochHead[]}} SourceHead
 * @typedef {{sources: SourceHead[]}} Head
 */

/**
 * What a spool has, all of it: the sources that hold the oldest first.
 * @param {import('./sources.js').Sources} sources
 * @param {(stream: import('./stream.js').Stream) => import('../../gateway/batch/ranges.js').RangeSet} doubtOf
 * @returns {Head}
 */
export function headOf (sources, doubtOf) {
  const inOrder = [...sources.inUse.values()].sort((a, b) => compare(oldestOf(a), oldestOf(b)))
  return {
    sources: inOrder.map(({ name, rows, lostRows, droppedRows, replacedRows, streams }) => ({
      source: name,
      rows,
      lost: lostRows,
      dropped: droppedRows,
      replaced: replacedRows,
      epochs: Array.from(streams.values(), stream => {
        const { epoch, start, end, isEmpty, gone, replaced } = stream
        const doubt = doubtOf(stream)
        return {
          epoch,
          first: start.seq,
          last: isEmpty ? -1 : end.seq - 1,
          before: start.rows,
          rows: end.rows,
          ...gone.ranges.length > 0 && { lost: counted(stream, gone) },
          ...replaced.ranges.length > 0 && { replaced: counted(stream, replaced) },
          ...doubt.ranges.length > 0 && { doubt: doubt.ranges }
        }
      })
    }))
  }
}

/** Where in the log the oldest is that is held of a source. @param {import('./sources.js').Source} source */
function oldestOf ({ streams }) {
  let oldest = Infinity
  for (const { runs: [run] } of streams.values()) if (run) oldest = Math.min(oldest, run.positionOf(run.first))
  return oldest
}

/** @param {number} a @param {number} b  may both be infinite */
function compare (a, b) { return a < b ? -1 : Number(a > b) }

/**
 * @param {import('./stream.js').Stream} stream
 * @param {import('../../gateway/batch/ranges.js').RangeSet} set
 * @returns {CountedRange[]}
 */
function counted (stream, { ranges }) {
  return ranges.map(([first, last]) => [first, last, stream.rowsOf(first, last)])
}
