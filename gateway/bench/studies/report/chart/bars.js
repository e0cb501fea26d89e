import { html } from '../markup.js'
import { figure, isNumber, ratio } from '../numbers.js'
import { colour, px } from './frame.js'
import { rowsChart } from './rows.js'
import { textWidth } from './text.js'

/**
 * @typedef {import('../../study.js').BarsBlock} BarsBlock
 * @typedef {import('../../study.js').Figure} Figure
 * @typedef {import('./scale.js').Scale} Scale
 * @typedef {(reason: string|undefined) => string|null} NoteOf  the letter under which a reason stands below the chart
 * @typedef {{text: string, more: string|null, isOurs: boolean}} BarText
 */

const TEXT_SIZE = 11.5

/**
 * Ours filled, the paper's outlined beneath it; each with its figure.
 * @param {BarsBlock} block
 * @param {number} width
 * @param {NoteOf} noteOf
 */
export function bars (block, width, noteOf) {
  const height = block.series.length > 1 ? 15 : 18
  const groups = block.groups.map(({ label, figures }) => ({
    label,
    rows: figures.flatMap((each, i) => {
      const title = [label, block.series[i]].filter(Boolean).join(', ')
      const rows = [bar({ value: each.value, text: oursText(each, noteOf), title, i, height, unit: block.unit })]
      const { published } = each
      if (published === undefined || published === null) return rows
      const text = { text: figure(published), more: 'paper', isOurs: false }
      return [...rows, bar({ value: published, text, title: `${title}, paper`, i, height: height - 2, unit: block.unit })]
    })
  }))
  const figures = block.groups.flatMap(group => group.figures)
  const textRight = Math.max(40, ...figures.flatMap(each => [
    measured(oursText(each, noteOf)), measured({ text: figure(each.published), more: 'paper', isOurs: false })
  ]))
  const values = figures.flatMap(({ value, published }) => [value, published])
  return rowsChart({ ...block, groups, values, textRight, isForBars: true }, width)
}

/** @param {Figure} each @param {NoteOf} noteOf @returns {BarText} */
function oursText ({ value, published, reason }, noteOf) {
  return { text: figure(value), more: value === null ? noteOf(reason) : ratio(value, published), isOurs: true }
}

/** @param {BarText} text */
function measured ({ text, more }) {
  return textWidth(more ? `${text} ${more}` : text, TEXT_SIZE) + 8
}

/**
 * @param {{value: unknown, text: BarText, title: string, i: number, height: number, unit: string}} bar
 * @returns {import('./rows.js').Row}
 */
function bar ({ value, text, title, i, height, unit }) {
  return {
    height,
    draw (y, scale) {
      const end = scale.has(value) ? scale.at(value) : scale.start
      const [left, right] = [Math.min(scale.start, end), Math.max(scale.start, end)]
      const inset = text.isOurs ? 0 : 0.6
      const thick = height - (text.isOurs ? 3 : 4)
      return html`<g><title>${title}: ${text.text}${isNumber(value) && ` ${unit}`}</title>
<rect class="${text.isOurs ? 'ours' : 'paper'} ${colour(i)}" x="${px(left)}" y="${px(y - thick / 2 + inset)}" width="${px(right - left)}"
height="${px(thick - 2 * inset)}"/>
<text class="${text.isOurs ? 'value' : 'value published'}" x="${px(right + 6)}" y="${px(y)}" dy="0.35em">${text.text}${
  text.more && html` <tspan class="more">${text.more}</tspan>`}</text></g>`
    }
  }
}
