/**
 * @typedef {[first: number, last: number, rows: number]} LostRange
 * @typedef {object} EpochHead
 * @property {string} epoch
 * @property {number} first
 * @property {number} last  -1: nothing of it is held
 * @property {number} before  rows of the source before `first`
 * @property {number} rows  of the source up to `last`
 * @property {LostRange[]} [lost]  between them, but cannot be sent: damaged, or removed before what is older
 * @property {[number, number][]} [replaced]  staged again under other identities
 * @property {[number, number][]} [doubt]  the sum of some sink does not match: each record is to be reported alone
 *
 * @typedef {{source: string, rows: number, lost: number, dropped: number, replaced: number, epochs: EpochHead[]}} SourceHead
 */

/**
 * What a spool has, all of it.
 * @param {import('./sources.js').Sources} sources
 * @param {(stream: import('./stream.js').Stream) => import('../../gateway/batch/ranges.js').RangeSet} doubtOf
 * @returns {{sources: SourceHead[]}}
 */
export function headOf (sources, doubtOf) {
  return {
    sources: Array.from(sources.inUse.values(), ({ name, rows, lostRows, droppedRows, replacedRows, streams }) => ({
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
          ...gone.ranges.length > 0 && { lost: gone.ranges.map(([first, last]) => lostRange(stream, first, last)) },
          ...replaced.ranges.length > 0 && { replaced: replaced.ranges },
          ...doubt.ranges.length > 0 && { doubt: doubt.ranges }
        }
      })
    }))
  }
}

/** @param {import('./stream.js').Stream} stream @param {number} first @param {number} last @returns {LostRange} */
function lostRange (stream, first, last) {
  return [first, last, stream.rowsOf(first, last)]
}
