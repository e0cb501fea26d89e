import uPlot from './uplot.js'
import { styled } from './colours.js'
import { element, say } from './dom.js'
import { day } from './times.js'

/**
 * @typedef {object} Series
 * @property {string} key  of the history
 * @property {string} label
 * @property {number} colour  `--series-…`
 * @property {boolean} [isDashed]
 *
 * @typedef {object} PlotOptions
 * @property {string} title
 * @property {(value: number) => string} format  with the unit
 * @property {number} [floor]  the least top of the scale
 * @property {() => Series[]} series  as they are now
 *
 * @typedef {import('./past.js').Span} Span
 * @typedef {import('./past.js').Curves} Curves
 */

const HEIGHT = 170
/** Charts have the cursor in common; a part is chosen in one of them, for all. */
const MOVES = { pub: (/** @type {string} */ type) => type === 'mousemove' || type === 'mouseleave' }

/** One chart with a legend that shows the newest values, or those under the cursor, which all charts have in common. */
export class Plot {
  #options
  #onZoom
  #legend = element('ul', { class: 'legend' })
  #canvas = element('div', { class: 'canvas', role: 'img' })
  /** @type {uPlot|null} */
  #plot = null
  #drawn = ''
  /** @type {Series[]} */
  #series = []
  /** @type {Curves} */
  #curves = { times: [], columns: [] }
  #resize = new ResizeObserver(() => this.#plot?.setSize({ width: this.#canvas.clientWidth, height: HEIGHT }))

  /** @param {PlotOptions} options @param {(span: Span) => void} onZoom */
  constructor (options, onZoom) {
    this.#options = options
    this.#onZoom = onZoom
    this.node = element('section', { class: 'plot' }, element('h3', {}, options.title), this.#legend, this.#canvas)
    this.#canvas.setAttribute('aria-label', options.title)
    this.#resize.observe(this.#canvas)
  }

  get title () { return this.#options.title }
  get canvas () { return this.#canvas.querySelector('canvas') }
  /** As the legend has it: for a picture. */
  get labels () { return this.#series.map(({ label, colour }) => ({ label, colour: styled(`--series-${colour}`) })) }
  get keys () { return this.#options.series().map(({ key }) => key) }

  close () {
    this.#resize.disconnect()
    this.#plot?.destroy()
  }

  /** @param {(keys: string[]) => Curves} curvesOf @param {Span} span */
  draw (curvesOf, span) {
    this.#series = this.#options.series()
    this.#curves = curvesOf(this.#series.map(({ key }) => key))
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches
    const drawn = JSON.stringify([isDark, this.#series])
    if (drawn !== this.#drawn) this.#rebuild()
    this.#drawn = drawn
    this.#plot?.setData(/** @type {uPlot.AlignedData} */ ([this.#curves.times, ...this.#curves.columns]), false)
    this.#plot?.batch(() => {
      const most = Math.max(this.#options.floor ?? 0, ...this.#curves.columns.flat().map(value => value ?? 0))
      this.#plot?.setScale('x', { min: span.fromMs / 1000, max: span.toMs / 1000 })
      this.#plot?.setScale('y', { min: 0, max: most * 1.1 || 1 })
    })
    this.#showValues()
  }

  #rebuild () {
    this.#plot?.destroy()
    this.#legend.replaceChildren(...this.#series.map(({ label, colour, isDashed }) => {
      const line = element('span', { class: `line series-${colour}${isDashed ? ' dashed' : ''}` })
      return element('li', {}, line, label, element('b'))
    }))
    this.#plot = new uPlot(this.#layout(), [[], ...this.#series.map(() => [])], this.#canvas)
  }

  /** @returns {uPlot.Options} */
  #layout () {
    const { format } = this.#options
    const grid = { stroke: styled('--grid'), width: 1 }
    const axis = { stroke: styled('--dim'), grid, ticks: { show: false }, font: '11px system-ui, sans-serif' }
    return {
      width: this.#canvas.clientWidth,
      height: HEIGHT,
      padding: [8, 26, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: { key: 'sluice', filters: MOVES } },
      scales: { x: { auto: false }, y: { auto: false } },
      axes: [
        { ...axis, size: 26, space: 52, values: (_plot, ticks, _axis, _space, step) => ticks.map(tick => timeLabel(tick, step)) },
        { ...axis, size: 66, values: (_plot, ticks) => ticks.map(tick => rounded(format(tick))) }
      ],
      series: [{}, ...this.#series.map(({ label, colour, isDashed }) => ({
        label, stroke: styled(`--series-${colour}`), width: 1.6, ...isDashed && { dash: [5, 4] }, points: { size: 3 }
      }))],
      hooks: {
        setCursor: [() => this.#showValues()],
        setSelect: [plot => {
          const { left, width } = plot.select
          if (width < 5) return
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          this.#onZoom({ fromMs: plot.posToVal(left, 'x') * 1000, toMs: plot.posToVal(left + width, 'x') * 1000 })
        }]
      }
    }
  }

  #showValues () {
    const { times, columns } = this.#curves
    const at = this.#plot?.cursor.idx ?? times.length - 1
    const told = columns.map((column, i) => {
      const value = lastKnown(column, at)
      const words = value === null ? '–' : this.#options.format(value)
      const shown = this.#legend.children[i]?.querySelector('b')
      if (shown) say(shown, words)
      return `${this.#series[i].label} ${words}`
    })
    this.#canvas.setAttribute('aria-label', `${this.#options.title}: ${told.join(', ')}`)
  }
}

/** @param {number} seconds  since 1970 @param {number} step  from one label to the next, in seconds */
function timeLabel (seconds, step) {
  const time = new Date(seconds * 1000)
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0')
  if (step >= 86_400 || step >= 3600 && time.getHours() === 0) return day(seconds * 1000)
  return `${two(time.getHours())}:${two(time.getMinutes())}${step < 60 ? `:${two(time.getSeconds())}` : ''}`
}

/** "5.00 k/s" → "5 k/s". @param {string} words */
function rounded (words) { return words.replace(/(\.\d*?)0+(?!\d)/, '$1').replace(/\.(?!\d)/, '') }

/** Curves of what comes in bursts have gaps. @param {(number|null)[]} column @param {number} at */
function lastKnown (column, at) {
  for (let i = at; i >= 0 && i > at - 20; i--) {
    if (column[i] !== null && column[i] !== undefined) return column[i]
  }
  return null
}
