import { emptyBalance, sumOf } from './balance.js'

/**
 * The balance of every sink. That of a sink behind staging is made of what databases and spools say, see `balance.js`; one that is wired to
 * its sources directly has what it has got since the process started. One behind a stage in of which nothing is known yet has none.
 *
 * @typedef {import('./balance.js').Balance} Balance
 * @typedef {Balance & {id: string, sink: string, gateway: string, source: string, isOld?: boolean}} Line  of one sink and one source;
 *   `sink` is its label; `isOld`: the spools may have said more since, and nobody hears them
 * @typedef {Balance & {id: string, sink: string, sources: (Balance & {gateway: string, source: string})[]}} SinkBalance  `sources`: those
 *   with most lost first, and not all of very many
 */

const MAX_SOURCES = 100

/**
 * @param {import('./stats.js').Stats} stats
 * @param {Line[]} [lines]  of the sinks behind staging; two stage ins may both have one
 * @returns {SinkBalance[]}
 */
export function ledger (stats, lines = stats.readBalances()) {
  const distinct = new Map(lines.map(line => [JSON.stringify([line.id, line.gateway, line.source]), line]))
  const staged = Array.from(Map.groupBy(distinct.values(), ({ id }) => id).values(), its => {
    const sources = its.map(({ id: _id, sink: _sink, ...line }) => line)
    const worst = sources.toSorted((a, b) => b.lost - a.lost).slice(0, MAX_SOURCES)
    return { id: its[0].id, sink: its[0].sink, ...sumOf(its), sources: worst }
  })
  const ids = new Set(staged.map(({ id }) => id))
  const direct = stats.meters.filter(({ stage, id }) => stage === 'sink' && !ids.has(id) && !stats.staged.has(id))
  return [...staged, ...direct.map(meter => ({ id: meter.id, sink: meter.name, ...directBalance(meter), sources: [] }))]
}

/**
 * What readers know of the sinks behind them, and of sinks that have none now, as their stage in is disabled, what the spools of this
 * gateway know. They also know what was produced while a reader hears nothing.
 * @param {Line[]} read
 * @param {Line[]} spooled  one for each spool
 * @returns {Line[]}
 */
export function joined (read, spooled) {
  const keyOf = (/** @type {Line} */ { id, gateway, source }) => JSON.stringify([id, gateway, source])
  const known = Map.groupBy(spooled, keyOf)
  const isRead = new Set(read.map(keyOf))
  const areCurrent = new Set(read.filter(({ isOld }) => !isOld).map(({ id }) => id))
  return [
    ...read.map(({ isOld, ...line }) => {
      const news = isOld ? Math.max(0, sumOf(known.get(keyOf(line)) ?? []).produced - line.produced) : 0
      return { ...line, produced: line.produced + news, inFlight: line.inFlight + news }
    }),
    ...[...known].filter(([key, [{ id }]]) => !isRead.has(key) && !areCurrent.has(id)).map(([, its]) => ({ ...its[0], ...sumOf(its) }))
  ]
}

/**
 * Of a sink without staging: what it has got. Nobody knows what its sources have sent to it: flows filter, and are wired anew.
 * @param {import('./meter.js').Meter} meter
 * @returns {Balance}
 */
function directBalance ({ rows: stored, deadLetters, lost, pendingRows }) {
  const inFlight = pendingRows()
  return { ...emptyBalance(), produced: stored + deadLetters + lost + inFlight, stored, deadLetters, lost, inFlight }
}
