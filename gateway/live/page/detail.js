import { Charts } from './charts.js'
import { button, element, say } from './dom.js'
import { sourceCharts, sinkCharts } from './overview-charts.js'
import { dot } from './marks.js'
import { sinkParts } from './sink-parts.js'
import { sourceParts } from './source-parts.js'
import { text } from './text.js'
import { clock } from './times.js'

/**
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {import('../overview/detail.js').SourceDetail} SourceDetail
 * @typedef {import('../overview/detail.js').SinkDetail} SinkDetail
 */

/** Asked for again and again, while it is shown. */
const REFRESH_MS = 2000

/** The page of one source or sink: how it is, charts, last errors, what is counted, last rows. */
export class Detail {
  #plant
  #type
  #id
  #editor
  #mark = dot()
  #status = element('p')
  #heading = element('h2', { tabindex: '-1' })
  #links = element('div', { class: 'tools' })
  #parts = element('div', { class: 'parts' })
  #charts
  #timer
  node

  /** @param {Plant} plant @param {'source'|'sink'} type @param {string} id @param {string|null} editor  where it is */
  constructor (plant, type, id, editor) {
    this.#plant = plant
    this.#type = type
    this.#id = id
    this.#editor = editor
    const source = plant.source(id)
    this.#charts = new Charts(plant, type === 'sink' ? sinkCharts(plant, id) : sourceCharts(source?.name ?? id, id))
    const back = button(text('detail.back'), () => { location.hash = '' })
    const head = element('div', { class: 'list-head' }, element('span', { class: 'name' }, this.#mark.node, this.#heading), this.#links)
    this.node = element('article', { class: 'detail' },
      element('div', {}, back), element('section', { class: 'card' }, head, this.#status), this.#charts.node, this.#parts)
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS)
    this.#refresh()
  }

  close () {
    clearInterval(this.#timer)
    this.#charts.close()
  }

  focus () { this.#heading.focus() }

  draw () {
    const row = this.#type === 'sink' ? this.#plant.sink(this.#id) : this.#plant.source(this.#id)
    say(this.#heading, row?.name ?? this.#id)
    this.#mark.show(row?.level ?? 'idle')
    this.#charts.draw()
  }

  async #refresh () {
    if (document.hidden) return
    const query = new URLSearchParams(this.#asked())
    const answer = await fetch(`detail?${query}`, { cache: 'no-store' }).catch(() => null)
    if (!answer?.ok) {
      if (answer?.status === 404) say(this.#status, text(`detail.no.${this.#type}`))
      return
    }
    /** @type {any} */
    const found = await answer.json()
    this.#showState(found)
    if (this.#parts.contains(document.activeElement) || getSelection()?.type === 'Range') return // who reads or uses it is not disturbed
    const parts = this.#type === 'sink' ? sinkParts(found, this.#plant.sink(this.#id)) : sourceParts(found, this.#plant, this.#id)
    this.#parts.replaceChildren(...parts, remarkList(found))
  }

  /** @returns {Record<string, string>} */
  #asked () {
    if (this.#type === 'sink') return { sink: this.#id }
    const { name = this.#id, gateway = '' } = this.#plant.source(this.#id) ?? {}
    return { source: name, gateway }
  }

  /** @param {(SourceDetail|SinkDetail) & {editorId: string|null}} found */
  #showState ({ nodeId, editorId, status }) {
    const alarm = this.#plant.alarms.find(({ subject }) => subject.type === this.#type &&
      (subject.nodeId === nodeId && nodeId !== null || subject.name === this.#heading.textContent))
    const said = status.fill === 'green' ? text('state.good') : status.text // whose rate and counts are told below
    say(this.#status, alarm?.what ?? said ?? text('detail.noNode'))
    if (this.#links.childElementCount > 0 || this.#editor === null || editorId === null) return
    this.#links.append(element('a', { class: 'button', href: `${this.#editor}#node/${editorId}` }, text('detail.editor')))
  }
}

/** What its node has logged last. @param {SourceDetail|SinkDetail} found */
function remarkList ({ remarks }) {
  const lines = remarks.map(({ timeMs, level, text: words }) => element('tr', {},
    element('td', { class: 'dim' }, clock(timeMs)), element('td', { class: level === 'error' ? 'bad' : '' }, words)))
  const table = element('table', { class: 'plain' }, element('tbody', {}, ...lines))
  return element('section', { class: 'card remarks' }, element('h2', {}, text('detail.remarks')),
    lines.length > 0 ? table : element('p', { class: 'dim' }, text('detail.noRemarks')))
}
