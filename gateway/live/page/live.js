import { duration, measure } from '../../stats/format.js'
import { Rates } from './history.js'
import { showAlarms, showMachine } from './machine.js'
import { Plot } from './plot.js'
import { watch } from './stream.js'
import { showGauges, showLedger, showSinks, showSources } from './tables.js'

/**
 * @typedef {import('../../stats/reader.js').Report} Report
 * @typedef {import('../../stats/reader.js').MeterReport} MeterReport
 */

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))
const table = (/** @type {string} */ id) => /** @type {HTMLTableElement} */ (document.getElementById(id))

const rates = new Rates()

const plots = {
  values: new Plot(byId('plots'), { title: 'Values per second', format: value => measure(value, '/s') }),
  latency: new Plot(byId('plots'), { title: 'Latency from sample time', format: duration, bursts: true, firstColour: 1 }),
  waiting: new Plot(byId('plots'), { title: 'Spool and queues', format: value => measure(value, 'B'), floor: 1e6 }),
  cpu: new Plot(byId('plots'), { title: 'CPU of the gateway', format: value => `${value.toFixed(value < 10 ? 1 : 0)} %`, floor: 10 }),
  memory: new Plot(byId('plots'), { title: 'Memory of the gateway', format: value => measure(value, 'B'), floor: 100e6 }),
  loop: new Plot(byId('plots'), { title: 'Event loop delay, p99', format: duration, floor: 5 })
}

/** @param {Report} report */
function plot (report) {
  const { time, meters, process: { cpuPercent, rssBytes, heapBytes, eventLoopDelayMs } } = report
  plots.values.curves.push(time, sums(meters))
  plots.latency.curves.push(time, latencies(meters))
  plots.waiting.curves.push(time, Object.fromEntries(waiting(report.gauges)))
  plots.cpu.curves.push(time, { 'of one core': cpuPercent })
  plots.memory.curves.push(time, { resident: rssBytes, heap: heapBytes })
  plots.loop.curves.push(time, { delay: eventLoopDelayMs })
}

/** All sources in one curve, what is staged in another, and every sink, as each stores all. @param {MeterReport[]} meters */
function sums (meters) {
  /** @type {Record<string, number|null>} */
  const curves = {}
  for (const meter of meters) {
    const label = { source: 'in', stage: 'staged', sink: `stored: ${meter.name}` }[meter.stage]
    const rate = rates.of(meter, 'values')
    curves[label] = rate === null ? null : (curves[label] ?? 0) + rate
  }
  return curves
}

/** Until staged, the worst of all sources; until stored, for every sink. @param {MeterReport[]} meters */
function latencies (meters) {
  /** @type {Record<string, number|null>} */
  const curves = {}
  for (const { stage, name, latencyMs: { interval } } of meters) {
    if (stage === 'source') continue
    const label = stage === 'sink' ? `stored: ${name}` : 'staged'
    for (const percentile of /** @type {const} */ (['p50', 'p99'])) {
      const known = curves[`${label} ${percentile}`] ?? null
      curves[`${label} ${percentile}`] = interval ? Math.max(known ?? 0, interval[percentile]) : known
    }
  }
  return curves
}

/** What waits somewhere, in bytes; what may wait at most is no curve. @param {Report['gauges']} gauges @returns {[string, number][]} */
function waiting (gauges) {
  return Object.entries(gauges).flatMap(([name, gauge]) => Object.entries(gauge).flatMap(([key, value]) => {
    const isWaiting = /^(?!max)(\w+B|b)ytes$/.test(key) && typeof value === 'number'
    return isWaiting ? [/** @type {[string, number]} */ ([name, value])] : []
  }))
}

/** @type {Report|null} */
let newest = null
let drawing = false

function draw () {
  drawing = false
  if (!newest) return
  showLedger(byId('ledger'), newest.ledger)
  for (const each of Object.values(plots)) each.draw()
  showSources(table('sources'), newest.meters, rates)
  showSinks(table('sinks'), newest.meters, rates)
  byId('gauge-card').hidden = Object.keys(newest.gauges).length === 0
  showGauges(byId('gauges'), newest.gauges)
  byId('machine-card').hidden = newest.host === null
  if (newest.host) showMachine(byId('machine'), newest.host)
  showAlarms(byId('alarms'), newest.alarms)
}

watch({
  onOpen ({ gateway, process }) {
    byId('gateway').textContent = `${gateway} · process ${process}`
    byId('gone').hidden = true
    byId('state').textContent = 'live'
    byId('state').className = 'live'
  },
  onReport (report) {
    newest = report
    rates.push(report)
    plot(report)
    if (!drawing) requestAnimationFrame(draw)
    drawing = true
  },
  onGone () {
    for (const { curves } of Object.values(plots)) curves.push(Date.now(), {})
    byId('gone').textContent =
      `The gateway has been gone since ${new Date().toLocaleTimeString()}. What you see is its last report; this page reconnects by itself.`
    byId('gone').hidden = false
    byId('state').textContent = 'gone'
    byId('state').className = 'gone'
  }
})
