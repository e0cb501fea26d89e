import { html } from './markup.js'
import { figure, ratio } from './numbers.js'

/**
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').Figure} Figure
 * @typedef {import('./reasons.js').Reasons} Reasons
 * @typedef {import('./markup.js').Markup} Markup
 */

/** Of a text: "×1.05", "12.5 ms". */
const IS_FIGURE = /^[×−-]?[\d.,]+\s?\S{0,3}$/

/** Our figures, and the paper's beneath each of them. @param {TableBlock} block @param {Reasons} reasons */
export function table ({ caption, heading, columns, rows }, reasons) {
  const kinds = columns.map((_, i) => kindOf(rows.map(({ figures }) => figures[i])))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
<table><thead><tr><td>${heading}</td>${columns.map(({ title, unit }, i) =>
  html`<th scope="col"${kinds[i]}>${title}${unit && html`<span class="unit">${unit}</span>`}</th>`)}</tr></thead>
<tbody>${rows.map(({ label, figures, isContinued }) => html`<tr${isContinued && html` class="continued"`}><th scope="row">${label}</th>${
  columns.map(({ digits }, i) => cell(figures[i] ?? { value: null }, digits, kinds[i], reasons))}</tr>
`)}</tbody></table></div>`
}

/** Whether the paper has any of these. @param {TableBlock} block */
export function hasPublished ({ rows }) {
  return rows.some(({ figures }) => figures.some(({ published }) => isThere(published)))
}

/**
 * @param {Figure} each
 * @param {number|undefined} digits
 * @param {Markup|false} kind
 * @param {Reasons} reasons
 */
function cell ({ value, published, reason }, digits, kind, reasons) {
  const letter = value === null && reasons.note(reason)
  const times = ratio(value, published)
  return html`<td${kind}><span class="${value === null ? 'missing' : 'ours'}">${figure(value, digits)}${
    letter && html`<sup>${letter}</sup>`}${times && html`<span class="ratio">${times}</span>`}</span>${
    isThere(published) && html`<span class="published">${figure(published, digits)}</span>`}</td>`
}

/** Words begin at the left, figures end at the right, with room for their ratios beside them. @param {(Figure|undefined)[]} figures */
function kindOf (figures) {
  if (isText(figures)) return html` class="text"`
  return figures.some(each => each && ratio(each.value, each.published)) && html` class="paired"`
}

/** @param {(Figure|undefined)[]} figures  of a column */
export function isText (figures) {
  const values = figures.map(each => each?.value).filter(isThere)
  return values.every(value => typeof value === 'string') && values.some(value => !IS_FIGURE.test(String(value)))
}

/** @param {unknown} value */
function isThere (value) {
  return value !== null && value !== undefined
}
