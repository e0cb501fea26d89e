import uPlot from './uplot.js'
import { Curves } from './history.js'

/**
 * @typedef {object} PlotOptions
 * @property {string} title
 * @property {(value: number) => string} format  with the unit
 * @property {number} [floor]  the least top of the scale
 * @property {boolean} [bursts]  what comes in bursts is drawn through the pauses between them
 * @property {number} [firstColour]  so that what is in several plots has one colour in all
 */

const HEIGHT = 170
const MIN_SPAN_SECONDS = 60
const SERIES_COLOURS = 6

/** One card with curves over the last five minutes, and a legend that shows the newest values, or those under the pointer. */
export class Plot {
  curves = new Curves()
  /** @type {uPlot|null} */
  #plot = null
  #drawn = ''
  #legend = document.createElement('ul')
  #canvas = document.createElement('div')
  #options

  /** @param {HTMLElement} parent @param {PlotOptions} options */
  constructor (parent, options) {
    this.#options = options
    const card = document.createElement('section')
    card.className = 'card plot'
    const title = document.createElement('h2')
    title.textContent = options.title
    this.#legend.className = 'legend'
    card.append(title, this.#legend, this.#canvas)
    parent.append(card)
    new ResizeObserver(() => this.#plot?.setSize({ width: this.#canvas.clientWidth, height: HEIGHT })).observe(this.#canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.#drawn = '' })
  }

  /** Draws what the curves hold now. */
  draw () {
    const labels = [...this.curves.columns.keys()]
    if (this.#drawn !== JSON.stringify(labels)) this.#rebuild(labels)
    this.#plot?.setData(/** @type {uPlot.AlignedData} */ (this.curves.data))
    this.#showValues()
  }

  /** @param {string[]} labels */
  #rebuild (labels) {
    this.#drawn = JSON.stringify(labels)
    this.#plot?.destroy()
    const hues = coloursOf(labels, this.#options.firstColour ?? 0)
    this.#legend.replaceChildren(...labels.map((label, i) => {
      const item = document.createElement('li')
      item.className = `series-${hues[i]}${isMedian(label) ? ' dashed' : ''}`
      item.append(document.createElement('span'), label, document.createElement('b'))
      return item
    }))
    const { format, floor = 0, bursts = false } = this.#options
    const axis = {
      stroke: colour('--dim'),
      grid: { stroke: colour('--grid'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui, sans-serif'
    }
    this.#plot = new uPlot(
      {
        width: this.#canvas.clientWidth,
        height: HEIGHT,
        padding: [8, 26, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        scales: {
          x: { range: (_plot, first, last) => [Math.min(first, last - MIN_SPAN_SECONDS), last] },
          y: { range: (_plot, _min, max) => [0, Math.max(floor, (max || 0) * 1.1) || 1] }
        },
        axes: [
          {
            ...axis,
            size: 26,
            space: 70,
            values: [
              [60, '{HH}:{mm}', null, null, null, null, null, null, 1],
              [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]
            ]
          },
          { ...axis, size: 64, values: (_plot, ticks) => ticks.map(tick => rounded(format(tick))) }
        ],
        series: [
          {},
          ...labels.map((label, i) => ({
            label,
            stroke: colour(`--series-${hues[i]}`),
            width: 1.6,
            ...(isMedian(label) && { dash: [5, 4] }),
            spanGaps: bursts,
            points: { show: false }
          }))
        ],
        hooks: { setCursor: [() => this.#showValues()] }
      },
      /** @type {uPlot.AlignedData} */ (this.curves.data),
      this.#canvas
    )
  }

  #showValues () {
    const { times, columns } = this.curves
    const at = this.#plot?.cursor.idx ?? times.length - 1
    let i = 0
    for (const column of columns.values()) {
      const value = lastKnown(column, at)
      const shown = this.#legend.children[i++]?.querySelector('b')
      if (shown) shown.textContent = value === null ? '–' : this.#options.format(value)
    }
  }
}

/** A median and its percentiles belong together: one colour, the median dashed. @param {string[]} labels @param {number} first */
function coloursOf (labels, first) {
  const subjects = [...new Set(labels.map(subject))]
  return labels.map(label => (first + subjects.indexOf(subject(label))) % SERIES_COLOURS)
}

/** @param {string} label */
function subject (label) {
  return label.replace(/ p\d+$/, '')
}

/** @param {string} label */
function isMedian (label) {
  return label.endsWith(' p50')
}

/** "5.00 k/s" → "5 k/s". @param {string} text */
function rounded (text) {
  return text.replace(/(\.\d*?)0+(?!\d)/, '$1').replace(/\.(?!\d)/, '')
}

/** Curves of what comes in bursts have gaps. @param {(number|null)[]} column @param {number} at */
function lastKnown (column, at) {
  for (let i = at; i >= 0 && i > at - 20; i--) {
    if (column[i] !== null) return column[i]
  }
  return null
}

/** @param {string} name  of a CSS variable */
function colour (name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}
