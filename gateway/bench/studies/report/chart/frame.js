import { html } from '../markup.js'
import { textWidth, wrap } from './text.js'

/** Every chart is drawn for a page and for a phone, on which it is not a small picture of the large one. In pixels. */
export const WIDTHS = { wide: 900, narrow: 328 }
export const TICK_SIZE = 11.5
export const LABEL_SIZE = 12.5

/**
 * @typedef {import('../markup.js').Markup} Markup
 * @typedef {import('./scale.js').Scale} Scale
 */

/** @param {{width: number, height: number, label: string}} size @param {...unknown} content */
export function svg ({ width, height, label }, ...content) {
  const shape = width === WIDTHS.narrow ? 'narrow' : 'wide'
  return html`<svg class="chart ${shape}" viewBox="0 0 ${width} ${px(height)}" role="img" aria-label="${label}">${content}</svg>`
}

/**
 * Upright lines, with their text below.
 * @param {Scale} scale
 * @param {number} top
 * @param {number} bottom
 * @param {number} width  of the chart
 */
export function uprightGrid (scale, top, bottom, width) {
  const line = (/** @type {string} */ kind) => (/** @type {number} */ value) =>
    html`<line class="${kind}" x1="${px(scale.at(value))}" x2="${px(scale.at(value))}" y1="${px(top)}" y2="${px(bottom)}"/>`
  return [
    scale.minor.map(line('minor')),
    scale.ticks.map(({ value }) => line('grid')(value)),
    scale.ticks.map(({ value, text }) => tickBelow(scale.at(value), bottom + 16, text, width))
  ]
}

/** Within the chart, also at its edges. @param {number} x @param {number} y @param {string} text @param {number} width  of the chart */
export function tickBelow (x, y, text, width) {
  const half = textWidth(text, TICK_SIZE) / 2
  const anchor = x < half ? 'start' : x + half > width ? 'end' : 'middle'
  return html`<text class="tick" x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${text}</text>`
}

/** A label in lines around a middle. @param {string[]} lines @param {number} x @param {number} y @param {'start'|'end'} anchor */
export function labelLines (lines, x, y, anchor) {
  const pitch = LABEL_SIZE * 1.2
  const first = y - (lines.length - 1) * pitch / 2
  return lines.map((line, i) =>
    html`<text class="label" x="${px(x)}" y="${px(first + i * pitch)}" dy="0.35em" text-anchor="${anchor}">${line}</text>`)
}

/** @param {string} text @param {number} width @param {number} most */
export function labelText (text, width, most) {
  return wrap(text, width, LABEL_SIZE, most)
}

/** A unit and how it is counted. @param {{unit: string, isLog?: boolean}} block */
export function unitText ({ unit, isLog }) {
  return [unit, isLog && 'logarithmic'].filter(Boolean).join(', ')
}

/** Tenths of a pixel are as fine as anyone sees. @param {number} value */
export function px (value) {
  return Number(value.toFixed(1))
}

/** The class of a series, by its number. @param {number} i @param {number} [reports]  so many in a row are of one colour, in two tones */
export function colour (i, reports = 1) {
  return `c${Math.floor(i / reports) % COLOURS}${i % reports > 0 ? ' tone' : ''}`
}

/** In style.css. */
export const COLOURS = 8
