/**
 * @typedef {import('../../stats/stats.js').Stats} Stats
 * @typedef {import('../../stats/meter.js').Meter} Meter
 * @typedef {import('../../stats/ledger.js').Line} Line
 *
 * @typedef {object} Source  by the name that its rows carry, once, however many nodes and stages they pass
 * @property {string} name
 * @property {string} gateway  '' for this one
 * @property {Meter[]} sent  of the nodes that send its rows; none where another program does, or another gateway
 * @property {Meter|null} staged
 */

/** More are not shown one by one. */
export const MAX_SOURCES = 1000

/**
 * Those of this gateway first, each by name.
 * @param {Stats} stats
 * @param {Pick<Line, 'gateway'|'source'>[]} lines  of the balances
 * @param {string} ownGateway
 * @returns {Source[]}
 */
export function sourcesOf (stats, lines, ownGateway) {
  const staged = new Map(stats.metersOf('stage').filter(({ isOwn }) => !isOwn).map(meter => [meter.id, meter]))
  /** @type {Map<string, Meter[]>} */
  const sent = new Map()
  for (const meter of stats.metersOf('source')) {
    const names = meter.rowsBySource.size > 0 ? meter.rowsBySource.keys() : [meter.name]
    for (const name of names) sent.set(name, [...sent.get(name) ?? [], meter])
  }
  const own = new Set([...sent.keys(), ...staged.keys()])
  const others = new Map(lines.filter(({ gateway, source }) => gateway !== ownGateway || !own.has(source))
    .map(({ gateway, source }) => [JSON.stringify([gateway, source]), { name: source, gateway: gateway === ownGateway ? '' : gateway }]))
  const known = new Set([...own, ...lines.map(({ source }) => source)])
  const direct = new Set(stats.metersOf('sink').flatMap(({ rowsBySource }) => [...rowsBySource.keys()]).filter(name => !known.has(name)))
  const local = [...own, ...direct].map(name => ({ name, gateway: '', sent: sent.get(name) ?? [], staged: staged.get(name) ?? null }))
  const remote = Array.from(others.values(), each => ({ ...each, sent: [], staged: null }))
  return [...local.sort(byName), ...remote.sort(byName)].slice(0, MAX_SOURCES)
}

/** @param {Source} source @returns {string|undefined} of the node that sends it, while it runs */
export function nodeIdOf ({ sent }) { return sent.flatMap(({ running }) => [...running])[0] }

/** As the node of the source has sent them; null where none does. @param {Source} source @returns {number|null} */
export function sentRows ({ name, sent }) {
  return sent.length === 0 ? null : sent.reduce((rows, meter) => rows + (meter.rowsBySource.get(name) ?? 0), 0)
}

/**
 * The last of its batches that are kept, oldest first.
 * @param {Source} source
 * @param {import('./pulse.js').Pulse} pulse
 * @returns {import('../../batch/batch.js').Batch[]}
 */
export function lastBatches ({ name, sent, staged }, pulse) {
  for (const meter of staged ? [staged, ...sent] : sent) {
    const batches = pulse.batches(meter, name)
    if (batches.length > 0) return batches
  }
  return []
}

/** @param {{gateway: string, name: string}} a @param {{gateway: string, name: string}} b */
function byName (a, b) { return a.gateway.localeCompare(b.gateway) || a.name.localeCompare(b.name, 'en', { numeric: true }) }
