import { byId, element } from './dom.js'
import { sinkList } from './sinks.js'
import { sourceList } from './sources.js'

/**
 * The overview, or by the address the page of one source or sink.
 * @param {import('./plant.js').Plant} plant
 */
export function showPage (plant) {
  const overview = byId('overview')
  const card = (/** @type {string} */ id) => overview.appendChild(element('section', { id, class: 'card' }))
  const sinks = sinkList(card('sinks'), plant)
  const sources = sourceList(card('sources'), plant)
  return {
    editor: '',
    draw () {
      sinks.show(plant.sinks)
      sources.show(plant.sources)
    }
  }
}
