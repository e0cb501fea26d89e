/** A batch that was stored. @typedef {{endedMs: number, microseconds: number}} Stored */

/**
 * How many rows were stored a second, in one window after the other. A batch counts over all the time that it took: many clients' end at
 * once, and would count in one window alone. A last window that is shorter than half the others is left out.
 * @param {Stored[]} batches @param {{batchRows: number, windowSeconds: number}} options
 * @returns {{seconds: number[], rows: number[], rates: number[]}} at the end of each window; `rows`: that were stored by then
 */
export function rollingRate (batches, { batchRows, windowSeconds }) {
  const spans = batches.map(({ endedMs, microseconds }) => ({ from: endedMs / 1000 - microseconds / 1e6, to: endedMs / 1000 }))
  const begin = spans.reduce((least, { from }) => Math.min(least, from), Infinity)
  const end = spans.reduce((most, { to }) => Math.max(most, to), -Infinity)
  /** @type {{seconds: number[], rows: number[], rates: number[]}} */
  const rolling = { seconds: [], rows: [], rates: [] }
  let total = 0
  for (let from = begin; from < end && (end - from >= windowSeconds / 2 || from === begin); from += windowSeconds) {
    const to = Math.min(end, from + windowSeconds)
    const rows = spans.reduce((sum, span) => sum + batchRows * shareWithin(span, from, to), 0)
    total += rows
    rolling.seconds.push(to - begin)
    rolling.rows.push(Math.round(total))
    rolling.rates.push(rows / (to - from))
  }
  return rolling
}

/** @param {{from: number, to: number}} span @param {number} from @param {number} to */
function shareWithin (span, from, to) {
  if (span.to === span.from) return span.to >= from && span.to < to ? 1 : 0
  return Math.max(0, Math.min(to, span.to) - Math.max(from, span.from)) / (span.to - span.from)
}
