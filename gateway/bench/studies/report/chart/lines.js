import { html } from '../markup.js'
import { figure } from '../numbers.js'
import { colour, px, svg, TICK_SIZE, unitText, uprightGrid, WIDTHS } from './frame.js'
import { marker } from './marker.js'
import { scaleOf } from './scale.js'
import { textWidth } from './text.js'
import { pointsOf, thinned } from './thin.js'

/**
 * @typedef {import('../../study.js').LinesBlock} LinesBlock
 * @typedef {import('./scale.js').Scale} Scale
 */

/** Points are marked on a line that has no more of them. */
const MAX_MARKED = 40
const TOP = 34
const BOTTOM = 52

/** The paper's are dashed, and of the colour of ours with the same label. @param {LinesBlock} block @param {number} width */
export function lines (block, width) {
  const isNarrow = width === WIDTHS.narrow
  const height = isNarrow ? 300 : 400
  const xs = block.lines.flatMap(line => line.x)
  const ys = block.lines.flatMap(line => line.y)
  const y = scaleOf({ values: ys, from: height - BOTTOM, to: TOP, count: isNarrow ? 4 : 6, isLog: block.isLog })
  const left = Math.max(...y.ticks.map(({ text }) => textWidth(text, TICK_SIZE))) + 10
  const x = scaleOf({
    values: xs, from: left + 6, to: width - 14, count: isNarrow ? 4 : 8, isLog: block.isLogX, isTime: block.isTimeX
  })
  const unit = block.isLogX ? `${block.xTitle}, logarithmic` : block.xTitle
  return [svg({ width, height, label: block.caption },
    across(y, left, width - 8),
    uprightGrid(x, TOP, height - BOTTOM, width),
    html`<line class="axis" x1="${px(left)}" x2="${width - 8}" y1="${height - BOTTOM}" y2="${height - BOTTOM}"/>`,
    html`<text class="unit" x="0" y="12">${unitText(block)}</text>`,
    html`<text class="unit" x="${width - 8}" y="${height - 12}" text-anchor="end">${unit}</text>`,
    block.lines.map((line, i) => drawn(line, seriesOf(block)[i], { block, x, y, width })))]
}

/** The number of each line's colour and mark. @param {LinesBlock} block */
export function seriesOf (block) {
  const labels = [...new Set(block.lines.map(({ label }) => label))]
  return block.lines.map(({ label, series }) => series ?? labels.indexOf(label))
}

/** @param {Scale} scale @param {number} from @param {number} to */
function across (scale, from, to) {
  const line = (/** @type {string} */ kind, /** @type {number} */ value) =>
    html`<line class="${kind}" x1="${px(from)}" x2="${to}" y1="${px(scale.at(value))}" y2="${px(scale.at(value))}"/>`
  return [
    scale.minor.map(value => line('minor', value)),
    scale.ticks.map(({ value, text }) => html`${line('grid', value)}<text class="tick" x="${px(from - 8)}" y="${px(scale.at(value))}"
dy="0.35em" text-anchor="end">${text}</text>`)
  ]
}

/**
 * @param {LinesBlock['lines'][number]} line
 * @param {number} i
 * @param {{block: LinesBlock, x: Scale, y: Scale, width: number}} chart
 */
function drawn (line, i, { block, x, y, width }) {
  const { reports, unit, xTitle } = block
  const points = thinned(pointsOf(line, (each, value) => x.has(each) && y.has(value)), width)
  const there = points.filter(point => point !== null)
  const name = line.isPublished ? `${line.label}, paper` : line.label
  const marks = there.length <= MAX_MARKED && there.map(point =>
    html`<g><title>${name}: ${figure(point.y)} ${unit} at ${figure(point.x)} (${xTitle})</title>${
      marker(i, x.at(point.x), y.at(point.y), line.isPublished === true)}</g>`)
  return html`<g class="${colour(i, reports)}"><title>${name}</title>
<path class="${line.isPublished ? 'line published-line' : 'line'}" d="${pathOf(points, { x, y })}"/>${marks}</g>`
}

/** @param {import('./thin.js').Point[]} points @param {{x: Scale, y: Scale}} scales */
function pathOf (points, { x, y }) {
  return points.map((point, i) => point && `${points[i - 1] ? 'L' : 'M'}${px(x.at(point.x))} ${px(y.at(point.y))}`).filter(Boolean).join('')
}
