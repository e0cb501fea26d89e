import { button, element } from './dom.js'
import { select } from './list.js'
import { curvesOf, fetchPast, pastUrl } from './past.js'
import { savePicture } from './picture.js'
import { Plot } from './plot.js'
import { text } from './text.js'
import { TRACK_MS } from './tracks.js'

/**
 * @typedef {import('./past.js').Span} Span
 * @typedef {import('./plot.js').PlotOptions} PlotOptions
 * @typedef {import('./plant.js').Plant} Plant
 */

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]
/** @type {[name: string, ms: number][]} */
const WINDOWS = [
  ['1min', MINUTE_MS], ['5min', 5 * MINUTE_MS], ['15min', 15 * MINUTE_MS], ['1h', HOUR_MS], ['6h', 6 * HOUR_MS], ['24h', DAY_MS],
  ['7d', 7 * DAY_MS], ['30d', 30 * DAY_MS]
]
/** How often what is older is asked for anew. */
const REFRESH_MS = 10_000
const SHORTEST_MS = 5000

/** What all charts of the page show, as long as it is open. */
let windowMs = 5 * MINUTE_MS

/** Charts over one window of time, from a minute to 30 days: the last minutes from the stream, what is older from the history. */
export class Charts {
  #plant
  #plots
  /** Of which a part was chosen. @type {Span|null} */
  #zoom = null
  /** @type {import('./past.js').Past|null} */
  #past = null
  #askedMs = -Infinity
  #asked = ''
  #csv = element('a', { class: 'button', download: 'sluice.csv' })
  #whole
  #window
  node = element('section', { class: 'card charts' })

  /** @param {Plant} plant @param {PlotOptions[]} options */
  constructor (plant, options) {
    this.#plant = plant
    this.#plots = options.map(each => new Plot(each, span => this.#zoomTo(span)))
    this.#window = select(text('charts.window'), WINDOWS.map(([name, ms]) => [String(ms), text(`charts.${name}`)]), value => {
      windowMs = Number(value)
      this.#zoomTo(null)
    })
    this.#window.classList.add('window')
    this.#whole = button(text('charts.now'), () => this.#zoomTo(null))
    this.#csv.textContent = text('charts.csv')
    const tools = element('div', { class: 'tools' },
      this.#window,
      button(text('charts.earlier'), () => this.#shift(-0.5)),
      button(text('charts.later'), () => this.#shift(0.5)),
      button(text('charts.closer'), () => this.#closer()),
      this.#whole,
      this.#csv,
      button(text('charts.png'), () => savePicture(this.#plots, this.span))
    )
    const head = element('div', { class: 'list-head' }, element('h2', {}, text('charts.title')), tools)
    this.node.append(head, element('div', { class: 'plots' }, ...this.#plots.map(({ node }) => node)))
  }

  /** What is shown. @returns {Span} */
  get span () {
    const toMs = this.#plant.timeMs
    return this.#zoom ?? { fromMs: toMs - windowMs, toMs }
  }

  close () { for (const plot of this.#plots) plot.close() }

  /** Far below what is seen, it is not worth the work. */
  draw () {
    if (!this.#plant.tick || this.node.getBoundingClientRect().top > 1.5 * innerHeight) return
    const { span } = this
    const keys = [...new Set(this.#plots.flatMap(plot => plot.keys))]
    this.#ask(keys, span)
    this.#whole.hidden = this.#zoom === null
    if (this.#window.value !== String(windowMs)) this.#window.value = String(windowMs)
    this.#csv.href = pastUrl('history.csv', keys, span)
    const tracks = span.toMs - span.fromMs <= TRACK_MS ? this.#plant.tracks : null
    for (const plot of this.#plots) plot.draw(its => curvesOf(its, this.#past, tracks, span), span)
  }

  /** @param {Span|null} span */
  #zoomTo (span) {
    this.#zoom = span && span.toMs - span.fromMs < SHORTEST_MS ? middle(span, SHORTEST_MS) : span
    this.#askedMs = -Infinity
    this.draw()
  }

  /** @param {number} share  of what is shown */
  #shift (share) {
    const { fromMs, toMs } = this.span
    const byMs = Math.min((toMs - fromMs) * share, this.#plant.timeMs - toMs)
    this.#zoomTo(byMs === 0 ? null : { fromMs: fromMs + byMs, toMs: toMs + byMs })
  }

  #closer () { this.#zoomTo(middle(this.span, (this.span.toMs - this.span.fromMs) / 2)) }

  /** @param {string[]} keys @param {Span} span */
  async #ask (keys, span) {
    const asked = keys.join(',')
    const isOld = performance.now() - this.#askedMs > (this.#zoom ? 60_000 : REFRESH_MS)
    if (keys.length === 0 || asked === this.#asked && !isOld) return
    this.#asked = asked
    const askedMs = this.#askedMs = performance.now()
    const past = await fetchPast(keys, span)
    if (askedMs !== this.#askedMs) return // another one is under way
    this.#past = past
    this.draw()
  }
}

/** @param {Span} span @param {number} ms @returns {Span} */
function middle ({ fromMs, toMs }, ms) {
  const at = (fromMs + toMs) / 2
  return { fromMs: at - ms / 2, toMs: at + ms / 2 }
}
