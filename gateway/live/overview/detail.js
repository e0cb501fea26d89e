import { ledger } from '../../stats/ledger.js'
import { lastRows } from './rows.js'
import { LAST_ROWS } from './pulse.js'
import { lastBatches, nodeIdOf, sentRows, sourcesOf } from './sources.js'

/**
 * All that is known of one source or sink now: what its own page shows, and asks for again and again while it is open.
 *
 * @typedef {import('../../stats/stats.js').Stats} Stats
 * @typedef {import('../../stats/meter.js').Totals} Totals
 * @typedef {import('../../stats/reader.js').Gauge} Gauge
 * @typedef {import('./places.js').Status} Status
 * @typedef {import('./said.js').Remark} Remark
 * @typedef {object} About
 * @property {string} gateway
 * @property {import('./said.js').Said} said
 * @property {import('./pulse.js').Pulse} [pulse]  while somebody looks
 *
 * @typedef {object} SourceDetail
 * @property {string|null} nodeId
 * @property {Status} status
 * @property {Remark[]} remarks
 * @property {Totals|null} sent  by its node, which may send other sources as well
 * @property {Totals|null} staged
 * @property {Gauge} gauge  of its node
 * @property {{id: string, name: string, stored: number, inFlight: number|null, deadLetters: number|null, lost: number|null}[]} sinks
 *   null: not known without staging
 * @property {number|null} rows  sent
 * @property {import('./rows.js').LastRows|null} last
 *
 * @typedef {object} SinkDetail
 * @property {string} nodeId
 * @property {Status} status
 * @property {Remark[]} remarks
 * @property {Totals} totals
 * @property {Gauge} gauge
 * @property {import('../../stats/latency.js').LatencySummary|null} latency  ms, since the start
 * @property {import('../../stats/write-times.js').WriteSummaries} writes  µs, since the start
 * @property {import('../../stats/ledger.js').SinkBalance|null} balance
 */

/** @param {Stats} stats @param {About} about @param {{name: string, gateway: string}} asked @returns {SourceDetail|null} */
export function sourceDetail (stats, { gateway: own, said, pulse }, { name, gateway }) {
  const lines = stats.readBalances()
  const source = sourcesOf(stats, lines, own).find(each => each.name === name && each.gateway === gateway)
  if (!source) return null
  const nodeId = nodeIdOf(source) ?? null
  const [sender] = source.sent
  return {
    nodeId,
    status: stats.statuses.get(nodeId ?? '') ?? {},
    remarks: said.of(nodeId),
    sent: sender ? sender.totals : null,
    staged: source.staged && source.staged.totals,
    gauge: sender ? stats.readGauges()[`source ${sender.name}`] ?? {} : {},
    sinks: stats.metersOf('sink').map(({ id, name: label, rowsBySource }) => {
      const line = lines.find(each => each.id === id && each.source === name && each.gateway === (gateway || own))
      const { stored = rowsBySource.get(name) ?? 0, inFlight = null, deadLetters = null, lost = null } = line ?? {}
      return { id, name: label, stored, inFlight, deadLetters, lost }
    }),
    rows: sentRows(source),
    last: pulse ? lastRows(lastBatches(source, pulse), LAST_ROWS) : null
  }
}

/** @param {Stats} stats @param {About} about @param {string} id @returns {SinkDetail|null} */
export function sinkDetail (stats, { said }, id) {
  const meter = stats.metersOf('sink').find(each => each.id === id)
  if (!meter) return null
  return {
    nodeId: id,
    status: stats.statuses.get(id) ?? {},
    remarks: said.of(id),
    totals: meter.totals,
    gauge: stats.readGauges()[`sink ${meter.name}`] ?? {},
    latency: meter.latency.summary(),
    writes: meter.writes.summary(),
    balance: ledger(stats).find(each => each.id === id) ?? null
  }
}
