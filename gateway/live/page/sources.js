import { duration, quantity } from '../../stats/format.js'
import { element, say } from './dom.js'
import { LEVELS } from './levels.js'
import { List } from './list.js'
import { dot } from './marks.js'
import { Spark } from './spark.js'
import { counted, text } from './text.js'
import { lasting } from './times.js'

/**
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {import('./plant.js').SourceRow} SourceRow
 */

const SPARK_VALUES = 60

/** What begins a name: "press" of "press 12", "n2k" of "n2k.Rudder". @param {{name: string}} row */
export function prefixOf ({ name }) {
  const [first, ...others] = name.split(/[./:]/)
  return others.length > 0 && first !== '' ? first : name.replace(/[\s_-]*\d+$/, '') || name
}

/** One row a source. @param {HTMLElement} parent @param {Plant} plant */
export function sourceList (parent, plant) {
  return new List(parent, {
    name: 'sources',
    href: sourceHref,
    words: ({ name, gateway, last }) => `${name} ${gateway} ${last?.[0] ?? ''}`,
    groupings: { prefix: prefixOf, gateway: ({ gateway }) => gateway },
    columns: [
      { key: 'source.name', value: ({ name }) => name, cell: nameCell },
      { key: 'source.state', value: ({ level }) => LEVELS.indexOf(level), text: ({ level }) => text(`state.${level}`) },
      { key: 'source.in', value: ({ sentRate }) => sentRate, text: ({ sentRate }) => rateText(sentRate) },
      { key: 'source.staged', value: ({ stagedRate }) => stagedRate, text: ({ stagedRate }) => rateText(stagedRate) },
      { key: 'source.stored', value: storedRate, cell: () => storedCell(plant), isWide: true },
      { key: 'source.latency', value: ({ p99 }) => p99, text: ({ p99 }) => p99 === null ? '–' : duration(p99) },
      { key: 'source.last', value: ({ last }) => numberOf(last), text: ({ last }) => valueText(last), isWide: true },
      { key: 'source.age', value: ({ ageMs }) => ageMs, text: ageText },
      { key: 'source.minute', value: ({ rate }) => rate, cell: () => sparkCell() }
    ]
  })
}

/** @param {SourceRow} row */
export function sourceHref ({ key }) { return `#source/${encodeURIComponent(key)}` }

/** @param {number|null} rate */
export function rateText (rate) { return rate === null ? '–' : text('rate', { rate: quantity(rate) }) }

/** "temperature 24.1 °C" @param {SourceRow['last']} last */
export function valueText (last) {
  if (!last) return '–'
  const [name, value, unit] = last
  return `${name} ${plain(value)}${unit && ` ${unit}`}`
}

/** @param {string|number|boolean|null} value */
export function plain (value) {
  if (value === null) return '–'
  if (typeof value === 'boolean') return text(value ? 'yes' : 'no')
  return typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : String(value)
}

/** @param {Pick<SourceRow, 'ageMs'>} row */
export function ageText ({ ageMs }) { return ageMs === null ? '–' : text('ago', { lasting: lasting(ageMs) }) }

/** What the slowest sink stores of it; null where nothing is known. @param {SourceRow} row */
function storedRate ({ storedRates }) {
  const known = storedRates.filter(rate => rate !== null)
  return known.length > 0 ? Math.min(...known) : null
}

/** @param {SourceRow['last']} last */
function numberOf (last) { return typeof last?.[1] === 'number' ? last[1] : null }

export function sparkCell () {
  const spark = new Spark()
  return { node: spark.node, show: (/** @type {{spark: (number|null)[]}} */ row) => spark.show(row.spark, SPARK_VALUES) }
}

function nameCell () {
  const mark = dot()
  const link = element('a')
  const gateway = element('span', { class: 'dim' })
  return {
    node: element('span', { class: 'name' }, mark.node, link, gateway),
    /** @param {SourceRow} row */
    show (row) {
      mark.show(row.level)
      say(link, row.name)
      link.href = sourceHref(row)
      say(gateway, row.gateway && text('source.of', { gateway: row.gateway }))
    }
  }
}

/** A square for each sink, in its colour; red where the sink is away. @param {Plant} plant */
function storedCell (plant) {
  const squares = element('span', { class: 'squares', 'aria-hidden': 'true' })
  const words = element('span')
  return {
    node: element('span', { class: 'stored' }, squares, words),
    /** @param {SourceRow} row */
    show (row) {
      const shown = plant.sinks.map(({ id, name, level, colour }, i) => {
        const isStopped = level === 'problem'
        const state = isStopped ? 'stopped' : row.storedRates[i] ? `series-${colour}` : `series-${colour} still`
        const rate = rateText(row.storedRates[i])
        return { id, state, title: isStopped ? text('stored.stopped', { name }) : text('stored.rate', { name, rate }) }
      })
      while (squares.children.length > shown.length) squares.lastElementChild?.remove()
      for (const [i, { state, title }] of shown.entries()) {
        const square = /** @type {HTMLElement} */ (squares.children[i] ?? squares.appendChild(element('i')))
        if (square.className !== state) square.className = state
        if (square.title !== title) square.title = title
      }
      const stopped = shown.filter(({ state }) => state === 'stopped').length
      const rate = rateText(storedRate(row))
      if (stopped > 0) say(words, text('stored.some', { count: stopped, all: counted(shown.length) }))
      else say(words, shown.length > 1 ? text('stored.each', { rate }) : rate)
    }
  }
}
