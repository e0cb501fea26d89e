import { mountLive } from '../../gateway/live/live.js'
import { duration, quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { dataDir, defineNode, handlesInput, throttledStatus } from '../node.js'
import { schema } from './stats.schema.js'

/**
 * @typedef {import('../../gateway/stats/reader.js').Report} Report
 */

/**
 * Sends a report per interval, and one for each message. With this node comes the live page, in any Node-RED.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  mountLive(RED, stats, () => dataDir(RED))

  defineNode(RED, 'sluice-stats', schema, (node, { intervalMs }) => {
    const show = throttledStatus(node)
    const reader = stats.reader()
    const timer = setInterval(() => {
      const report = reader.read()
      show(statusOf(report))
      node.send({ topic: 'stats', payload: report })
    }, intervalMs)

    handlesInput(node, (message, send) => {
      send({ ...message, payload: reader.read() })
    })
    node.on('close', () => {
      clearInterval(timer)
      reader.close()
    })
  })
}

/**
 * What comes in, how old it is when the slowest sink has stored it, and what went wrong so far.
 * @param {Report} report
 * @returns {import('../node.js').Status}
 */
export function statusOf ({ meters, ledger }) {
  const rows = sum(meters.filter(({ stage }) => stage === 'source').map(({ perSecond }) => perSecond.rows))
  const p99s = meters.filter(({ stage }) => stage === 'sink').flatMap(({ latencyMs: { interval } }) => interval ? [interval.p99] : [])
  const deadLetters = sum(ledger.map(balance => balance.deadLetters))
  const lost = sum(ledger.map(balance => balance.lost))
  const parts = [`${quantity(rows)} rows/s`]
  if (p99s.length > 0) parts.push(`p99 ${duration(Math.max(...p99s))}`)
  if (deadLetters > 0) parts.push(`${quantity(deadLetters)} dead letters`)
  if (lost > 0) parts.push(`${quantity(lost)} lost`)
  return { fill: lost > 0 ? 'red' : deadLetters > 0 ? 'yellow' : 'green', shape: 'dot', text: parts.join(', ') }
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
