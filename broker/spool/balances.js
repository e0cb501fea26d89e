import { RangeSet } from '../../gateway/batch/ranges.js'
import { emptyBalance } from '../../gateway/stats/balance.js'

/**
 * What a sink has, and lacks, of each source in use, as far as the spool knows: also where nobody reads for it. Nobody can say whether it
 * had what the spool has lost; it is taken for lost.
 * @param {import('./sources.js').Sources} sources
 * @param {import('./confirmations.js').Confirmations} confirmations
 * @param {import('./retention.js').RequiredSink} sink
 * @returns {(import('../../gateway/stats/balance.js').Balance & {source: string})[]}
 */
export function balancesOf (sources, confirmations, { key, covers }) {
  return Array.from(sources.inUse.values()).filter(({ name, rows }) => rows > 0 && covers(name)).map(source => {
    let inFlight = 0
    for (const stream of source.streams.values()) {
      const { start, end } = stream
      const stored = confirmations.stored(key, stream) ?? new RangeSet()
      for (const [first, last] of stream.sendable(stored.missing(start.seq, end.seq - 1))) inFlight += stream.rowsOf(first, last)
    }
    const produced = source.rows - source.replacedRows
    const lost = Math.min(produced - inFlight, source.lostRows + source.droppedRows)
    const rest = produced - inFlight - lost
    return { ...emptyBalance(), source: source.name, produced, inFlight, lost, ...parted(rest, confirmations.outcome(key, source.name)) }
  })
}

/**
 * What has become of the rows that a sink needs no more.
 * @param {number} rows
 * @param {import('../local.js').Outcome} outcome
 */
function parted (rows, [before, dead, toSettle]) {
  const beforeItBegan = Math.min(rows, before ?? rows)
  const deadLetters = Math.min(rows - beforeItBegan, dead)
  const settled = Math.min(rows - beforeItBegan - deadLetters, toSettle)
  return { beforeItBegan, deadLetters, settled, stored: rows - beforeItBegan - deadLetters - settled }
}
