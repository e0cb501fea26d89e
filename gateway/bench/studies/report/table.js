import { html } from './markup.js'
import { figure, ratio } from './numbers.js'

/**
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').Figure} Figure
 * @typedef {import('./reasons.js').Reasons} Reasons
 */

/** Beyond so many columns a table is printed across the page. */
const MAX_UPRIGHT_COLUMNS = 7

/** Our figures, and the paper's beneath each of them. @param {TableBlock} block @param {Reasons} reasons */
export function table ({ caption, heading, columns, rows }, reasons) {
  const isText = columns.map((_, i) => isTextColumn(rows.map(({ figures }) => figures[i])))
  return html`<div class="scroll${columns.length > MAX_UPRIGHT_COLUMNS && ' broad'}" tabindex="0" role="region" aria-label="${caption}">
<table><thead><tr><td>${heading}</td>${columns.map(({ title, unit }, i) =>
  html`<th scope="col"${isText[i] && html` class="text"`}>${title}${unit && html`<span class="unit">${unit}</span>`}</th>`)}</tr></thead>
<tbody>${rows.map(({ label, figures }) => html`<tr><th scope="row">${label}</th>${
  columns.map(({ digits }, i) => cell(figures[i] ?? { value: null }, digits, isText[i], reasons))}</tr>
`)}</tbody></table></div>`
}

/** Whether the paper has any of these. @param {TableBlock} block */
export function hasPublished ({ rows }) {
  return rows.some(({ figures }) => figures.some(({ published }) => published !== null && published !== undefined))
}

/** @param {Figure} each @param {number|undefined} digits @param {boolean} isText @param {Reasons} reasons */
function cell ({ value, published, reason }, digits, isText, reasons) {
  const letter = value === null && reasons.note(reason)
  const times = ratio(value, published)
  return html`<td${isText && html` class="text"`}>
<span class="${value === null ? 'missing' : 'ours'}">${figure(value, digits)}${letter && html`<sup>${letter}</sup>`}</span>${
  published !== null && published !== undefined && html`
<span class="published">${figure(published, digits)}${times && html` <span class="ratio">${times}</span>`}</span>`}</td>`
}

/** Words begin at the left, figures end at the right. @param {(Figure|undefined)[]} figures */
function isTextColumn (figures) {
  const values = figures.map(each => each?.value).filter(value => value !== null && value !== undefined)
  return values.length > 0 && values.every(value => typeof value === 'string' && !/^[×−-]?[\d.,]+/.test(value))
}
