import { colour } from './chart/frame.js'
import { seriesOf } from './chart/lines.js'
import { marker } from './chart/marker.js'
import { html } from './markup.js'
import { isNumber } from './numbers.js'

/**
 * @typedef {import('../study.js').BarsBlock} BarsBlock
 * @typedef {import('../study.js').BoxesBlock} BoxesBlock
 * @typedef {import('../study.js').LinesBlock} LinesBlock
 * @typedef {import('./markup.js').Markup} Markup
 */

/** What the colours and marks of a chart mean. @param {BarsBlock|BoxesBlock|LinesBlock} block */
export function legend (block) {
  const entries = block.kind === 'lines' ? ofLines(block) : [...ofSeries(block), ...block.kind === 'bars' ? ofBars(block) : ofBoxes(block)]
  return entries.length > 0 && html`<ul class="legend">${entries.map(([swatch, text]) =>
    html`<li><svg class="swatch" viewBox="0 0 22 12" aria-hidden="true">${swatch}</svg>${text}</li>`)}</ul>`
}

/** @param {BarsBlock|BoxesBlock} block @returns {[Markup, string][]} */
function ofSeries ({ series, reports }) {
  if (series.length < 2) return []
  return series.map((name, i) => [html`<rect class="ours ${colour(i, reports)}" x="3" y="1" width="16" height="10"/>`, name])
}

/** @param {BarsBlock} block @returns {[Markup, string][]} */
function ofBars ({ groups, series }) {
  if (!groups.some(({ figures }) => figures.some(({ published }) => published !== null && published !== undefined))) return []
  const one = series.length < 2 ? 'c0' : 'neutral'
  return [
    [html`<rect class="ours ${one}" x="3" y="1" width="16" height="10"/>`, 'here (× the paper’s)'],
    [html`<rect class="paper ${one}" x="3.6" y="1.6" width="14.8" height="8.8"/>`, 'paper']
  ]
}

/** @param {BoxesBlock} block @returns {[Markup, string][]} */
function ofBoxes ({ groups }) {
  const box = html`<g class="neutral"><path class="whisker" d="M0 6H5M16 6H22"/><rect class="box" x="5" y="1" width="11"
height="10"/><line class="median" x1="10" x2="10" y1="1" y2="11"/></g>`
  const mean = html`<g class="neutral"><path class="mean" d="M7 6l4 -4 4 4 -4 4z"/></g>`
  const paper = html`<g class="neutral"><circle class="published-mark" cx="11" cy="6" r="4.2"/></g>`
  /** @type {[Markup, string][]} */
  const ours = [[box, 'quartiles, median (as a number), extremes'], [mean, 'mean']]
  return groups.some(({ published }) => published?.some(isNumber)) ? [...ours, [paper, 'paper']] : ours
}

/** @param {LinesBlock} block @returns {[Markup, string][]} */
function ofLines (block) {
  if (block.lines.length < 2) return []
  const series = seriesOf(block)
  return block.lines.map(({ label, isPublished = false }, i) => {
    const line = html`<line class="${isPublished ? 'line published-line' : 'line'}" x1="0" x2="22" y1="6" y2="6"/>`
    const swatch = html`<g class="${colour(series[i], block.reports)}">${line}${marker(series[i], 11, 6, isPublished)}</g>`
    return [swatch, isPublished ? `${label}, paper` : label]
  })
}
