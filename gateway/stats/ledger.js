/**
 * The balance of every sink: produced = stored + dead letters + lost + in flight.
 *
 * @typedef {object} Balance  in rows, since this process started
 * @property {string} sink
 * @property {number} produced  by the sources this sink stores (all sources, before it has stored anything): what a spool has accepted, or
 *   without a spool all that the source has sent
 * @property {number} stored
 * @property {number} deadLetters
 * @property {number} lost  including rows that a full spool evicted, where they are missing here
 * @property {number} inFlight  produced and under way
 * @property {number} earlier  settled beyond what was produced: rows that a spool held from before this process started
 */

/**
 * @param {Iterable<import('./meter.js').Meter>} meters
 * @returns {Balance[]}
 */
export function ledger (meters) {
  const all = [...meters]
  const produced = new Map([...rowsBySource(all, 'source'), ...rowsBySource(all, 'stage')])
  const dropped = new Map(all.filter(({ stage }) => stage === 'stage').map(meter => [meter.name, meter.dropped]))
  return all.filter(({ stage }) => stage === 'sink').map(({ name, rows, deadLetters, lost, rowsBySource: stored }) => {
    const sources = stored.size > 0 ? stored : produced
    const expected = [...sources.keys()].reduce((sum, source) => sum + (produced.get(source) ?? 0), 0)
    const open = expected - rows - deadLetters - lost
    const gone = Math.max(0, Math.min(open, [...sources.keys()].reduce((sum, source) => sum + (dropped.get(source) ?? 0), 0)))
    return {
      sink: name,
      produced: expected,
      stored: rows,
      deadLetters,
      lost: lost + gone,
      inFlight: Math.max(0, open - gone),
      earlier: Math.max(0, -open)
    }
  })
}

/** @param {import('./meter.js').Meter[]} meters @param {import('./meter.js').Stage} stage */
function rowsBySource (meters, stage) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const meter of meters) {
    if (meter.stage !== stage) continue
    for (const [source, rows] of meter.rowsBySource) sums.set(source, (sums.get(source) ?? 0) + rows)
  }
  return sums
}
