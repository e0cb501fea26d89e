import { emptyBalance, sumOf } from './balance.js'

/**
 * The balance of every sink. That of a sink behind staging is made of what databases and spools say, see `balance.js`; one that is wired to
 * its sources directly has what it has counted since the process started.
 *
 * @typedef {import('./balance.js').Balance} Balance
 * @typedef {Balance & {id: string, sink: string, gateway: string, source: string, isOld?: boolean}} Line  of one sink and one source;
 *   `sink` is its label; `isOld`: the spools may have said more since, and nobody hears them
 * @typedef {Balance & {id: string, sink: string, sources: (Balance & {gateway: string, source: string})[]}} SinkBalance  `sources`: those
 *   with most lost first, and not all of very many
 */

const MAX_SOURCES = 100

/**
 * @param {import('./meter.js').Meter[]} meters
 * @param {Line[]} lines  of the sinks behind staging; two stage ins may both have one
 * @returns {SinkBalance[]}
 */
export function ledger (meters, lines) {
  const distinct = new Map(lines.map(line => [JSON.stringify([line.id, line.gateway, line.source]), line]))
  const staged = Array.from(Map.groupBy(distinct.values(), ({ id }) => id).values(), its => {
    const sources = its.map(({ id: _id, sink: _sink, ...line }) => line)
    const worst = sources.toSorted((a, b) => b.lost - a.lost).slice(0, MAX_SOURCES)
    return { id: its[0].id, sink: its[0].sink, ...sumOf(its), sources: worst }
  })
  const ids = new Set(staged.map(({ id }) => id))
  const direct = meters.filter(({ stage, id }) => stage === 'sink' && !ids.has(id))
  return [...staged, ...direct.map(meter => ({ id: meter.id, sink: meter.name, ...directBalance(meters, meter), sources: [] }))]
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
  const isRead = new Set(read.map(({ id }) => id))
  return [
    ...read.map(({ isOld, ...line }) => {
      const news = isOld ? Math.max(0, sumOf(known.get(keyOf(line)) ?? []).produced - line.produced) : 0
      return { ...line, produced: line.produced + news, inFlight: line.inFlight + news }
    }),
    ...[...known.values()].filter(([{ id }]) => !isRead.has(id)).map(its => ({ ...its[0], ...sumOf(its) }))
  ]
}

/**
 * Of a sink without staging: what the sources that it stores have sent, or at least what it has got. One that has stored nothing yet may
 * have got nothing at all: sources say not where their rows go.
 * @param {import('./meter.js').Meter[]} meters
 * @param {import('./meter.js').Meter} meter
 * @returns {Balance}
 */
function directBalance (meters, { rows: stored, deadLetters, lost, rowsBySource, pendingRows }) {
  const sent = meters.filter(({ stage }) => stage === 'source').flatMap(source => [...source.rowsBySource])
  const own = sent.filter(([source]) => rowsBySource.has(source)).reduce((sum, [, rows]) => sum + rows, 0)
  const produced = Math.max(own, stored + deadLetters + lost + pendingRows())
  return { ...emptyBalance(), produced, stored, deadLetters, lost, inFlight: produced - stored - deadLetters - lost }
}
