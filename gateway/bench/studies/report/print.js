import { textWidth } from './chart/text.js'
import { figure, ratio } from './numbers.js'

/** @typedef {import('../study.js').TableBlock} TableBlock */

/** Of A4 and US Letter within the margins, and of fonts (style.css), in CSS pixels. */
const PAGE_WIDTH = 700
const FONT_SIZES = { usual: 11.4, small: 10 }
const MIN_LABEL_EMS = 7.9
const MIN_TEXT_EMS = 11
const RATIO_EMS = 2.95

/**
 * Paper does not scroll: a table that is too wide for it is printed small, or else in several parts beneath each other.
 * @param {TableBlock} block
 * @returns {{isSmall: boolean, parts: TableBlock[]}}  no parts: it fits as it is
 */
export function printed (block) {
  const fits = (/** @type {number} */ size) => sum(block.columns.map((_, i) => columnWidth(block, i, size))) <= room(size)
  if (fits(FONT_SIZES.usual)) return { isSmall: false, parts: [] }
  return { isSmall: true, parts: fits(FONT_SIZES.small) ? [] : parts(block) }
}

/** @param {TableBlock} block @returns {TableBlock[]} */
function parts (block) {
  /** @type {number[][]} */
  const found = []
  let width = Infinity
  block.columns.forEach((_, i) => {
    const more = columnWidth(block, i, FONT_SIZES.small)
    if (width + more > room(FONT_SIZES.small)) {
      found.push([])
      width = 0
    }
    found[found.length - 1].push(i)
    width += more
  })
  return found.map(places => ({
    ...block,
    columns: places.map(i => block.columns[i]),
    rows: block.rows.map(row => ({ ...row, figures: places.map(i => row.figures[i] ?? { value: null }) }))
  }))
}

/** @param {number} size */
function room (size) {
  return PAGE_WIDTH - MIN_LABEL_EMS * size
}

/** About, and rather too much. @param {TableBlock} block @param {number} i @param {number} size */
function columnWidth ({ columns, rows }, i, size) {
  const { title, unit = '', digits } = columns[i]
  const figures = rows.map(row => row.figures[i]).filter(each => each !== undefined)
  const isPaired = figures.some(({ value, published }) => ratio(value, published))
  const widths = figures.map(({ value, published }) => {
    const text = figure(value, digits)
    const times = ratio(value, published) ?? ''
    const beside = isPaired ? Math.max(RATIO_EMS * size, textWidth(` ${times}`, size * 0.83)) : 0
    const own = typeof value === 'string' ? Math.min(textWidth(text, size), MIN_TEXT_EMS * size) : textWidth(text, size)
    return Math.max(own, textWidth(figure(published, digits), size * 0.9)) + beside
  })
  const gap = size === FONT_SIZES.small ? 8 : 14
  return gap + Math.max(textWidth(title, size * 0.95), textWidth(unit, size * 0.9), ...widths)
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
