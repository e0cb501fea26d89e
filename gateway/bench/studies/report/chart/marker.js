import { html } from '../markup.js'
import { px } from './frame.js'

/** Lines differ in shape as well as in colour. The path of a shape around 0, 0. */
const SHAPES = [
  'M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z', // a disc
  'M-3.2 -3.2h6.4v6.4h-6.4z',
  'M0 -4.2l4.2 7.4h-8.4z',
  'M-4.4 0l4.4 -4.4 4.4 4.4 -4.4 4.4z',
  'M0 4.2l4.2 -7.4h-8.4z'
]

/** @param {number} i  of a series @param {number} x @param {number} y @param {boolean} isPublished */
export function marker (i, x, y, isPublished) {
  const kind = isPublished ? 'marker published-mark' : 'marker'
  return html`<path class="${kind}" transform="translate(${px(x)} ${px(y)})" d="${SHAPES[i % SHAPES.length]}"/>`
}
