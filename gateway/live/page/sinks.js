import { duration, quantity } from '../../stats/format.js'
import { element, say } from './dom.js'
import { LEVELS } from './levels.js'
import { List } from './list.js'
import { dot, swatch } from './marks.js'
import { rateText, sparkCell } from './sources.js'
import { counted, text } from './text.js'
import { since } from './times.js'

/**
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {import('./plant.js').SinkRow} SinkRow
 */

/** One row a sink. @param {HTMLElement} parent @param {Plant} plant */
export function sinkList (parent, plant) {
  return new List(parent, {
    name: 'sinks',
    href: sinkHref,
    words: ({ name }) => name,
    columns: [
      { key: 'sink.name', value: ({ name }) => name, cell: nameCell },
      { key: 'sink.state', value: ({ level }) => LEVELS.indexOf(level), text: row => stateOf(row, plant) },
      { key: 'sink.rate', value: ({ rate }) => rate, text: ({ rate }) => rateText(rate) },
      { key: 'sink.rows', value: ({ rows }) => rows, text: row => counted(storedRows(row)) },
      { key: 'sink.waiting', value: ({ waiting }) => waiting, text: ({ waiting }) => quantity(waiting) },
      { key: 'sink.latency', value: ({ p99 }) => p99, text: ({ p99 }) => p99 === null ? '–' : duration(p99) },
      { key: 'sink.minute', value: ({ rate }) => rate, cell: sparkCell }
    ]
  })
}

/** @param {{id: string}} row */
export function sinkHref ({ id }) { return `#sink/${encodeURIComponent(id)}` }

/** In all its life where staging knows, else since the start. @param {SinkRow} row */
export function storedRows ({ rows, balance }) { return Math.max(rows, balance?.stored ?? 0) }

/**
 * A sentence: what its alarm says, or else what its node says in the editor.
 * @param {SinkRow} row
 * @param {Plant} plant
 */
export function stateOf ({ id, level, isConnected, status, retryingSinceMs }, { alarms, timeMs }) {
  const alarm = alarms.find(({ subject }) => subject.type === 'sink' && subject.nodeId === id)
  if (alarm) return `${alarm.what}, ${since(alarm.raisedMs, timeMs)}`
  if (!isConnected) {
    const words = status.fill === 'red' && status.text ? status.text : text(level === 'busy' ? 'sink.opening' : 'sink.away')
    return retryingSinceMs === null ? words : `${words}, ${since(retryingSinceMs, timeMs)}`
  }
  return level === 'warning' && status.text ? status.text : text(`state.${level}`)
}

function nameCell () {
  const mark = dot()
  const colour = element('span')
  const link = element('a')
  return {
    node: element('span', { class: 'name' }, mark.node, colour, link),
    /** @param {SinkRow} row */
    show (row) {
      mark.show(row.level)
      if (colour.dataset.colour !== String(row.colour)) {
        colour.replaceChildren(swatch(row.colour))
        colour.dataset.colour = String(row.colour)
      }
      say(link, row.name)
      link.href = sinkHref(row)
    }
  }
}
