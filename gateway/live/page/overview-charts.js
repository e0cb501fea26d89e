import { duration, measure, quantity } from '../../stats/format.js'
import { text } from './text.js'
import { keyOf } from './tracks.js'

/**
 * What the charts of each page show.
 *
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {import('./plot.js').PlotOptions} PlotOptions
 */

/** More curves in a chart tell nothing. */
const MAX_CURVES = 20

const perSecond = (/** @type {number} */ value) => text('rate', { rate: quantity(value) })
const bytes = (/** @type {number} */ value) => measure(value, 'B')
const percent = (/** @type {number} */ value) => `${value.toFixed(value < 10 ? 1 : 0)} %`

/** @param {Plant} plant @returns {PlotOptions[]} */
export function overviewCharts (plant) {
  const ofSinks = (/** @type {string} */ measured) => () => plant.sinks.slice(0, MAX_CURVES).map(({ id, name, colour }) => {
    return { key: keyOf('sink', id, measured), label: name, colour }
  })
  const spools = () => plant.stages.filter(({ kind }) => kind === 'out').map(({ name }, i) => {
    return { key: keyOf('spool', name, 'unstoredBytes'), label: name, colour: 10 + i % 2 }
  })
  const own = (/** @type {string} */ measured) => () => [{ key: `process/gateway/${measured}`, label: text('charts.gateway'), colour: 10 }]
  return [
    { title: text('charts.stored'), format: perSecond, series: ofSinks('rows') },
    { title: text('charts.latency'), format: duration, series: ofSinks('latencyP99') },
    { title: text('charts.spool'), format: bytes, floor: 1e6, series: spools },
    { title: text('charts.cpu'), format: percent, floor: 10, series: own('cpu') },
    { title: text('charts.memory'), format: bytes, floor: 100e6, series: own('memory') },
    { title: text('charts.loop'), format: duration, floor: 5, series: own('loopDelay') }
  ]
}

/** @param {string} name @param {string} key  of the source @returns {PlotOptions[]} */
export function sourceCharts (name, key) {
  return [
    {
      title: text('charts.rows'),
      format: perSecond,
      series: () => [
        { key: keyOf('source', key, 'rows'), label: text('source.in'), colour: 11 },
        { key: keyOf('stage', name, 'rows'), label: text('source.staged'), colour: 10, isDashed: true }
      ]
    },
    {
      title: text('charts.latency'),
      format: duration,
      series: () => [{ key: keyOf('stage', name, 'latencyP99'), label: text('source.staged'), colour: 10 }]
    }
  ]
}

/** @param {Plant} plant @param {string} id @returns {PlotOptions[]} */
export function sinkCharts (plant, id) {
  const curve = (/** @type {string} */ measured, /** @type {string} */ label, isDashed = false) => {
    return { key: keyOf('sink', id, measured), label, colour: plant.sink(id)?.colour ?? 0, isDashed }
  }
  return [
    { title: text('charts.stored'), format: perSecond, series: () => [curve('rows', text('sink.rate'))] },
    { title: text('charts.latency'), format: duration, series: () => [curve('latencyP50', 'p50', true), curve('latencyP99', 'p99')] },
    { title: text('charts.write'), format: duration, series: () => [curve('writeP50', 'p50', true), curve('writeP99', 'p99')] },
    { title: text('charts.waiting'), format: quantity, floor: 10, series: () => [curve('waitingRows', text('sink.waiting'))] }
  ]
}
