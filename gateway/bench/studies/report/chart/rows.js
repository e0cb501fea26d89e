import { html } from '../markup.js'
import { labelLines, labelText, LABEL_SIZE, px, svg, unitText, uprightGrid, WIDTHS } from './frame.js'
import { scaleOf } from './scale.js'
import { textWidth } from './text.js'

/**
 * @typedef {import('../markup.js').Markup} Markup
 * @typedef {import('./scale.js').Scale} Scale
 * @typedef {{height: number, draw: (top: number, scale: Scale) => unknown}} Row
 * @typedef {{label: string, rows: Row[]}} Group
 *
 * @typedef {object} Rows
 * @property {string} caption
 * @property {string} unit
 * @property {boolean} [isLog]
 * @property {boolean} [isForBars]
 * @property {Group[]} groups
 * @property {Iterable<unknown>} values  what the axis has to reach
 * @property {number} textRight  the width that the longest text beside a mark needs
 */

/** A chart is cut into several above this: none has to be scrolled for its axis, or is cut by a page's end. */
const MAX_HEIGHT = 620
const GROUP_GAP = 12
const TOP = 6
const BOTTOM = 44

/**
 * Groups of rows beneath each other, on one axis: there is room for long labels, and for any number of them.
 * @param {Rows} rows
 * @param {number} width
 */
export function rowsChart (rows, width) {
  const isNarrow = width === WIDTHS.narrow
  const longest = Math.max(40, ...rows.groups.map(({ label }) => textWidth(label, LABEL_SIZE)))
  const labelWidth = isNarrow ? width : Math.min(width * 0.26, longest)
  const from = isNarrow ? 1 : labelWidth + 14
  const to = Math.max(from + 60, width - rows.textRight - 12)
  const scale = scaleOf({ ...rows, from, to, count: isNarrow ? 4 : 8 })
  const laid = rows.groups.map(group => placed(group, isNarrow ? width - 5 : labelWidth, isNarrow))
  const pieces = cut(laid)
  return pieces.map((groups, i) => {
    const height = groups.reduce((sum, group) => sum + group.height, 0)
    const bottom = TOP + height
    let y = TOP
    const drawn = groups.map(group => {
      const markup = draw(group, y, { scale, labelWidth, isNarrow })
      y += group.height
      return markup
    })
    const label = pieces.length > 1 ? `${rows.caption} (part ${i + 1} of ${pieces.length})` : rows.caption
    return svg({ width, height: bottom + BOTTOM, label },
      uprightGrid(scale, TOP, bottom, width),
      html`<line class="axis" x1="${px(scale.start)}" x2="${px(scale.start)}" y1="${TOP}" y2="${px(bottom)}"/>`,
      drawn,
      html`<text class="unit" x="${px(to)}" y="${px(bottom + 36)}" text-anchor="end">${unitText(rows)}</text>`)
  })
}

/** @typedef {Group & {lines: string[], rowsHeight: number, head: number, height: number}} PlacedGroup */

/** @param {Group} group @param {number} labelWidth @param {boolean} isNarrow @returns {PlacedGroup} */
function placed (group, labelWidth, isNarrow) {
  const rowsHeight = group.rows.reduce((sum, row) => sum + row.height, 0)
  const lines = labelText(group.label, labelWidth, isNarrow ? 2 : 3)
  const linesHeight = lines.length * LABEL_SIZE * 1.2
  const head = isNarrow ? linesHeight + 4 : 0
  return { ...group, lines, rowsHeight, head, height: GROUP_GAP + (isNarrow ? head + rowsHeight : Math.max(rowsHeight, linesHeight)) }
}

/** @param {PlacedGroup} group @param {number} top @param {{scale: Scale, labelWidth: number, isNarrow: boolean}} place */
function draw (group, top, { scale, labelWidth, isNarrow }) {
  const middle = top + group.height / 2
  const label = isNarrow
    ? labelLines(group.lines, 5, top + GROUP_GAP / 2 + (group.head - 4) / 2, 'start')
    : labelLines(group.lines, labelWidth, middle, 'end')
  let y = isNarrow ? top + GROUP_GAP / 2 + group.head : middle - group.rowsHeight / 2
  const rows = group.rows.map(row => {
    const markup = row.draw(y, scale)
    y += row.height
    return markup
  })
  return html`<g><title>${group.label}</title>${label}${rows}</g>`
}

/** @param {PlacedGroup[]} groups */
function cut (groups) {
  /** @type {PlacedGroup[][]} */
  const pieces = []
  let height = Infinity
  for (const group of groups) {
    if (height + group.height > MAX_HEIGHT) {
      pieces.push([])
      height = 0
    }
    pieces[pieces.length - 1].push(group)
    height += group.height
  }
  return pieces
}
