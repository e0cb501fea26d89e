import { html } from '../markup.js'
import { figure, isNumber, ratio } from '../numbers.js'
import { colour, px } from './frame.js'
import { rowsChart } from './rows.js'
import { textWidth } from './text.js'

/**
 * @typedef {import('../../study.js').BarsBlock} BarsBlock
 * @typedef {import('../../study.js').Figure} Figure
 * @typedef {(reason: string|undefined) => string|null} NoteOf  the letter under which a reason stands below the chart
 */

const TEXT_SIZE = 11.5

/**
 * Ours filled, the paper's outlined beneath it; each with its figure.
 * @param {BarsBlock} block
 * @param {number} width
 * @param {NoteOf} noteOf
 */
export function bars (block, width, noteOf) {
  const isDense = block.series.length > 1
  const groups = block.groups.map(({ label, figures }) => ({
    label,
    rows: figures.flatMap((each, i) => {
      const title = [label, block.series[i]].filter(Boolean).join(', ')
      const { published, reason } = each
      const fill = colour(i, block.reports)
      const more = each.value === null ? noteOf(reason) : ratio(each.value, published)
      const ours = bar({ value: each.value, more, title, fill, unit: block.unit, thick: isDense ? 12 : 15, above: 2 })
      if (published === undefined || published === null) return [ours]
      const below = isDense ? 4 : 2
      return [ours, bar({ value: published, title: `${title}, paper`, fill, unit: block.unit, thick: 10, above: 1, below })]
    })
  }))
  const figures = block.groups.flatMap(group => group.figures)
  const textRight = Math.max(40, ...figures.flatMap(({ value, published }) =>
    [`${figure(value)} ${ratio(value, published) ?? ''}`, figure(published)].map(text => textWidth(text, TEXT_SIZE) + 8)))
  const values = figures.flatMap(({ value, published }) => [value, published])
  return rowsChart({ ...block, groups, values, textRight, isForBars: true }, width)
}

/**
 * @param {object} bar
 * @param {unknown} bar.value
 * @param {string|null} [bar.more]  beside its figure
 * @param {string} bar.title
 * @param {string} bar.fill
 * @param {string} bar.unit
 * @param {number} bar.thick
 * @param {number} bar.above  it is free
 * @param {number} [bar.below]  likewise, of the paper's, which is outlined
 * @returns {import('./rows.js').Row}
 */
function bar ({ value, more, title, fill, unit, thick, above, below }) {
  const isPaper = below !== undefined
  return {
    height: above + thick + (below ?? 0),
    draw (top, scale) {
      const end = scale.has(value) ? scale.at(value) : scale.start
      const [left, right] = [Math.min(scale.start, end), Math.max(scale.start, end)]
      const text = figure(/** @type {Figure['value']} */ (value))
      const inset = isPaper ? 0.6 : 0
      return html`<g><title>${title}: ${text}${isNumber(value) && ` ${unit}`}</title>
<rect class="${isPaper ? 'paper' : 'ours'} ${fill}" x="${px(left)}" y="${px(top + above + inset)}" width="${px(right - left)}"
height="${px(thick - 2 * inset)}"/>
<text class="${isPaper ? 'value published' : 'value'}" x="${px(right + 6)}" y="${px(top + above + thick / 2)}" dy="0.35em">${text}${
  more && html` <tspan class="more">${more}</tspan>`}</text></g>`
    }
  }
}
