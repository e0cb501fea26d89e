import { element } from './dom.js'
import { text } from './text.js'

/** @typedef {import('./levels.js').Level} Level */

/** How something is: a dot in the editor's colour, and the word for those who do not see it. */
export function dot () {
  const word = element('span', { class: 'hidden-text' })
  const node = element('span', { class: 'dot' }, word)
  return {
    node,
    /** @param {Level} level */
    show (level) {
      node.className = `dot ${level}`
      node.title = word.textContent = text(`state.${level}`)
    }
  }
}

/** The colour of a sink. @param {number} colour */
export function swatch (colour) { return element('span', { class: `swatch series-${colour}`, 'aria-hidden': 'true' }) }
