import { decoded } from '../../base/decoded.js'
import { Charts } from './charts.js'
import { Detail } from './detail.js'
import { byId, element } from './dom.js'
import { Balances, Facts, machineFacts } from './facts.js'
import { FlowPicture } from './flow.js'
import { overviewCharts } from './overview-charts.js'
import { sinkList } from './sinks.js'
import { sourceList } from './sources.js'
import { text } from './text.js'

/**
 * The overview, or by the address the page of one source or sink: `#source/NAME`, `#sink/ID`.
 * @param {import('./plant.js').Plant} plant
 */
export function showPage (plant) {
  const [overview, place] = [byId('overview'), byId('detail')]
  const card = (/** @type {string} */ id) => overview.appendChild(element('section', { id, class: 'card' }))
  const picture = new FlowPicture()
  overview.append(picture.node)
  const sinks = sinkList(card('sinks'), plant)
  const sources = sourceList(card('sources'), plant)
  const charts = new Charts(plant, overviewCharts(plant))
  const balances = new Balances()
  const machine = new Facts(text('machine.title'))
  overview.append(charts.node, balances.node, machine.node)
  /** @type {Detail|null} */
  let detail = null
  let scrolledTo = 0

  /** @param {string} hash */
  function turnTo (hash) {
    const [, type, id] = /^#(source|sink)\/(.+)$/.exec(hash) ?? []
    if (!detail && type) scrolledTo = scrollY
    detail?.close()
    detail = type ? new Detail(plant, /** @type {'source'|'sink'} */ (type), decoded(id), pages.editor) : null
    place.replaceChildren(...detail ? [detail.node] : [])
    place.hidden = !detail
    overview.hidden = Boolean(detail)
    scrollTo(0, detail ? 0 : scrolledTo)
    detail?.focus()
  }

  let shown = ''
  const pages = {
    /** Where the editor is; null for nowhere. @type {string|null} */
    editor: null,
    draw () {
      if (shown !== location.hash && plant.tick) turnTo(shown = location.hash)
      if (detail) return detail.draw()
      picture.draw(plant)
      sinks.show(plant.sinks)
      sources.show(plant.sources)
      charts.draw()
      balances.show(plant)
      machine.show(machineFacts(plant))
    }
  }
  return pages
}
