import { html } from '../markup.js'
import { figure, isNumber, NOTHING } from '../numbers.js'
import { colour, px } from './frame.js'
import { rowsChart } from './rows.js'
import { textWidth } from './text.js'

/**
 * @typedef {import('../../study.js').BoxesBlock} BoxesBlock
 * @typedef {import('../../study.js').Box} Box
 * @typedef {import('./scale.js').Scale} Scale
 */

const TEXT_SIZE = 11.5

/**
 * Quartiles as a box, whiskers to the extremes, the mean as a diamond, the paper's figure as a ring.
 * @param {BoxesBlock} block
 * @param {number} width
 */
export function boxes (block, width) {
  const height = block.series.length > 1 ? 18 : 22
  const groups = block.groups.map(group => ({
    label: group.label,
    rows: block.series.map((series, i) => {
      const [box, published] = [group.boxes[i] ?? null, group.published?.[i] ?? null]
      const title = [group.label, series].filter(Boolean).join(', ')
      return { height, draw: drawing({ box, published, title, fill: colour(i, block.reports), height, unit: block.unit }) }
    })
  }))
  const all = block.groups.flatMap(group => group.boxes.map((box, i) => ({ box, published: group.published?.[i] ?? null })))
  const values = all.flatMap(({ box, published }) => [box?.min, box?.lower, box?.median, box?.upper, box?.max, box?.mean, published])
  const textRight = Math.max(40, ...all.map(({ box, published }) => textWidth(texts(box, published).join(' '), TEXT_SIZE) + 8))
  return rowsChart({ ...block, groups, values, textRight }, width)
}

/** The median and what was published, without a ratio: some papers have means. @param {Box|null} box @param {number|null} published */
function texts (box, published) {
  return [box ? figure(box.median) : NOTHING, published === null ? '' : `paper ${figure(published)}`]
}

/**
 * @param {{box: Box|null, published: number|null, title: string, fill: string, height: number, unit: string}} row
 * @returns {(top: number, scale: Scale) => unknown}
 */
function drawing ({ box, published, title, fill, height, unit }) {
  return (top, scale) => {
    const y = top + height / 2
    const edge = Math.max(...[published, box?.max].map(value => scale.has(value) ? scale.at(value) : scale.start))
    const [text, more] = texts(box, published)
    return html`<g class="${fill}"><title>${title}: ${spoken(box, published, unit)}</title>${box && drawn(box, y, scale, height - 6)}${
      scale.has(published) && html`<circle class="published-mark" cx="${px(scale.at(published))}" cy="${px(y)}" r="4.2"/>`}
<text class="value" x="${px(edge + 8)}" y="${px(y)}" dy="0.35em">${text}${more && html` <tspan class="more">${more}</tspan>`}</text></g>`
  }
}

/** @param {Box} box @param {number} y @param {Scale} scale @param {number} height */
function drawn (box, y, scale, height) {
  const at = (/** @type {number} */ value) => px(scale.at(value))
  const upright = (/** @type {string} */ name, /** @type {number} */ value, /** @type {number} */ part) => isNumber(value) &&
    html`<line class="${name}" x1="${at(value)}" x2="${at(value)}" y1="${px(y - height / 2 * part)}" y2="${px(y + height / 2 * part)}"/>`
  const width = Math.max(1, scale.at(box.upper) - scale.at(box.lower))
  return [
    html`<path class="whisker" d="M${at(box.min)} ${px(y)}H${at(box.lower)}M${at(box.upper)} ${px(y)}H${at(box.max)}"/>`,
    upright('whisker', box.min, 0.5),
    upright('whisker', box.max, 0.5),
    html`<rect class="box" x="${at(box.lower)}" y="${px(y - height / 2)}" width="${px(width)}" height="${px(height)}"/>`,
    upright('median', box.median, 1),
    scale.has(box.mean) && diamond(scale.at(box.mean), y, 3.6)
  ]
}

/** @param {number} x @param {number} y @param {number} half */
function diamond (x, y, half) {
  return html`<path class="mean" d="M${px(x - half)} ${px(y)}l${half} ${-half} ${half} ${half} ${-half} ${half}z"/>`
}

/** @param {Box|null} box @param {number|null} published @param {string} unit */
function spoken (box, published, unit) {
  const ours = box
    ? `median ${figure(box.median)}, quartiles ${figure(box.lower)} to ${figure(box.upper)}, ` +
    `all ${figure(box.min)} to ${figure(box.max)}, mean ${figure(box.mean)} ${unit}, of ${figure(box.count)}`
    : 'not measured'
  return published === null ? ours : `${ours}; paper ${figure(published)} ${unit}`
}
