import { once } from 'node:events'
import WebSocket from 'ws'

/**
 * What a gateway reports to its live page, four times a second. To look costs it something.
 *
 * @typedef {import('../stats/reader.js').Report} Report
 * @typedef {{reports: Report[], close: () => void}} LiveStream
 */

/** @param {string} url  of the gateway @returns {Promise<LiveStream>} */
export async function watchStream (url) {
  const { ticket } = await (await fetch(`${url}sluice/session`)).json()
  const socket = new WebSocket(`${url.replace('http', 'ws')}sluice/stream?ticket=${ticket}`)
  /** @type {Report[]} */
  const reports = []
  socket.on('message', text => { reports.push(JSON.parse(String(text))) })
  await once(socket, 'open')
  socket.on('error', () => {}) // the gateway may end first
  return { reports, close: () => socket.close() }
}

/**
 * From sample to commit, in milliseconds: each report stands for its interval by a few of its rows, each of them as old as the oldest of
 * those it stands for.
 * @param {Report[]} reports
 * @returns {{p50: number, p99: number}} NaN where nothing was stored
 */
export function latencyOf (reports) {
  const ages = reports.flatMap(({ meters }) => meters.filter(({ stage }) => stage === 'sink').flatMap(({ latencyMs: { interval } }) => {
    if (!interval) return []
    const { count, p50, p95, p99, max } = interval
    const parts = /** @type {const} */ ([[p50, 0.5], [p95, 0.45], [p99, 0.04], [max, 0.01]])
    return parts.map(([ms, share]) => ({ ms, rows: share * count }))
  })).sort((a, b) => b.ms - a.ms)
  return { p50: oldest(ages, 0.5), p99: oldest(ages, 0.01) }
}

/** The age that a share of the rows has at least. @param {{ms: number, rows: number}[]} ages  oldest first @param {number} share */
function oldest (ages, share) {
  let rows = ages.reduce((sum, age) => sum + age.rows, 0) * share
  return ages.find(age => (rows -= age.rows) <= 0)?.ms ?? NaN
}
