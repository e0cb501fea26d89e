import { mountLive } from '../../gateway/live/live.js'
import { duration, quantity } from '../../gateway/stats/format.js'
import { Host } from '../../gateway/stats/host/host.js'
import { LocalMonitor } from '../../gateway/stats/monitor/monitor.js'
import { stats } from '../../gateway/stats/stats.js'
import { describe } from '../../gateway/base/errors.js'
import { dataDir, defineNode, handlesInput, logOf, throttledStatus } from '../node.js'
import { counted, sentence } from '../status.js'
import { schemaOf } from '../schemas.js'
import { schema } from './stats.schema.js'

/**
 * @typedef {import('../../gateway/stats/reader.js').Report} Report
 * @typedef {import('../../gateway/stats/monitor/usage.js').Sample} Sample
 */

/** Its status, and what it logs, are this old at most where it sends nothing by itself. */
const STATUS_MS = 1000
const MIN_INTERVAL_MS = 100

/**
 * Sends a report per interval, where it is to, and one for each message. With this node comes the live page, in any Node-RED.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  mountLive(RED, stats, () => dataDir(RED), schemaOf)
  stats.host ??= new Host(dataDir(RED))

  defineNode(RED, 'sluice-stats', schema, (node, { intervalMs, resources }) => {
    const show = throttledStatus(node)
    const reader = stats.reader()
    const monitor = resources ? monitorOf(dataDir(RED)) : null
    const tell = newAlarms(logOf(node))
    let isClosed = false
    let isReading = false
    /** @param {(report: Report & {resources?: Sample}) => void} use  not called once the node is closed */
    const withReport = async use => {
      const sample = await monitor?.read()
      if (!isClosed) use({ ...reader.read(), ...sample && { resources: sample } })
    }
    const timer = setInterval(() => {
      if (isReading) return
      isReading = true
      withReport(report => {
        tell(report.host?.alarms ?? [])
        show(statusOf(report))
        if (intervalMs > 0) node.send({ topic: 'stats', payload: report })
      }).catch(error => logOf(node).error(describe(error))).finally(() => { isReading = false })
    }, intervalMs > 0 ? Math.max(MIN_INTERVAL_MS, intervalMs) : STATUS_MS)

    handlesInput(node, (message, send) => withReport(report => send({ ...message, payload: report })))
    node.on('close', () => {
      isClosed = true
      clearInterval(timer)
      reader.close()
    })
  })
}

/**
 * Logs what is wrong with the machine when it begins, and when it gets worse.
 * @param {import('../../gateway/base/log.js').Log} log
 * @returns {(alarms: import('../../gateway/stats/host/alarms.js').Alarm[]) => void}
 */
export function newAlarms (log) {
  let told = new Set()
  return alarms => {
    const now = new Set(alarms.map(({ kind, level }) => `${kind} ${level}`))
    for (const { kind, level, what, fix } of alarms) {
      if (!told.has(`${kind} ${level}`) && !told.has(`${kind} problem`)) log.warn(`${what} ${fix}`)
    }
    told = now
  }
}

/** Of the gateway alone: what it starts, such as browsers of a flow, is not what carries the samples. @param {string} folder */
function monitorOf (folder) {
  return new LocalMonitor({ processes: { gateway: { pid: process.pid, isAlone: true } }, folders: { data: folder }, machine: true })
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
  const latency = p99s.length > 0 ? `p99 ${duration(Math.max(...p99s))}` : ''
  const losses = counted({ lost, 'dead letters': deadLetters })
  const flow = `${quantity(rows)} rows/s`
  const fill = lost > 0 ? 'red' : deadLetters > 0 ? 'yellow' : 'green'
  return { fill, shape: 'dot', text: sentence(flow, ...losses, latency) }
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
