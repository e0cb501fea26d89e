import { isEmpty } from './options.js'
import { fieldOf, titleOf } from './table-cells.js'

/** @typedef {import('./table-row.js').TableRow} TableRow */
/** @typedef {import('./table-cells.js').Field} Field */

/**
 * The columns of a table that are folded away: fields below it, for the row that is edited, each with what it is for.
 */
export class RowDetails {
  #element
  #names
  #text
  #list
  #presets
  /** @type {TableRow|undefined} */
  #row
  #number = 0

  /**
   * @param {HTMLElement} element  becomes them
   * @param {import('./options.js').Schema} items  of the table
   * @param {(key: string, values?: object) => string} text  of the form's catalogue
   */
  constructor (element, { properties, 'x-presets': presets = {} }, text) {
    this.#presets = presets
    this.#element = element
    this.#names = Object.keys(properties).filter(name => properties[name]['x-advanced'])
    this.#text = text
    const button = (/** @type {string} */ deed, /** @type {string} */ sign) =>
      `<button type="button" class="red-ui-button red-ui-button-small" data-do="${deed}" title="${text(deed)}">${sign}</button>`
    element.innerHTML = `
      <div class="sluice-row-moves">${button('moveUp', '↑')}${button('moveDown', '↓')}</div>
      <p class="sluice-hint"></p>
      <details><summary></summary><div class="sluice-details-list"></div></details>`
    this.#list = /** @type {HTMLElement} */ (element.querySelector('.sluice-details-list'))
    element.hidden = true
  }

  /** @param {TableRow|undefined} row  the one that is edited @param {number} index  of it */
  show (row, index) {
    this.#element.hidden = !row || this.#names.length === 0
    this.#row = row
    this.#number = index + 1
    this.#list.replaceChildren(...row ? this.#names.map(name => this.#line(row, name)) : [])
    this.#summarize()
  }

  /** Takes what has been typed in it or in the row: what an empty field means may be another. @param {Field} typed */
  refresh (typed) {
    const row = this.#row
    if (!row) return
    for (const name of typed.dataset.name === 'preset' ? this.#names : []) {
      this.#part(name, '.sluice-field').replaceChildren(this.#field(row, name))
    }
    this.#summarize()
  }

  /** @param {Record<string, string>} problems  by column */
  mark (problems) {
    for (const name of this.#row ? this.#names : []) {
      this.#part(name, '.sluice-problem').textContent = problems[name] ?? ''
      this.#part(name, '[data-name]').setAttribute('aria-invalid', String(name in problems))
    }
  }

  /** @param {string} name  of a column @returns {boolean} whether it is one of these */
  goTo (name) {
    if (!this.#names.includes(name)) return false
    this.#element.querySelector('details')?.setAttribute('open', '')
    this.#part(name, '[data-name]').focus()
    return true
  }

  /** @param {TableRow} row @param {string} name */
  #line (row, name) {
    const { title, description = '' } = row.property(name)
    const line = document.createElement('div')
    line.className = 'sluice-detail'
    line.dataset.column = name
    line.innerHTML = '<label></label><div class="sluice-field"></div><p class="sluice-hint"></p><p class="sluice-problem" role="alert"></p>'
    const [label, place, hint] = /** @type {HTMLElement[]} */ ([...line.children])
    label.textContent = title
    hint.textContent = description
    place.append(this.#field(row, name))
    return line
  }

  /** @param {TableRow} row @param {string} name */
  #field (row, name) {
    const field = fieldOf(row.property(name), row.given(name))
    field.dataset.name = name
    return field
  }

  /** Says what is in it while it is folded, and what to know about the preset. */
  #summarize () {
    const row = this.#row
    if (!row) return
    const filled = this.#names.filter(name => !isEmpty(row.given(name)) && String(row.given(name)) !== '')
    const titles = filled.map(name => titleOf(row.property(name))).join(', ')
    const summary = /** @type {HTMLElement} */ (this.#element.querySelector('summary'))
    summary.textContent = this.#text('rowDetails', { n: this.#number }) + (titles && ` (${titles})`)
    const hint = /** @type {HTMLElement} */ (this.#element.querySelector(':scope > .sluice-hint'))
    const preset = row.given('preset')
    hint.textContent = Object.hasOwn(this.#presets, preset) ? this.#text(`presetHelp.${preset}`) : ''
  }

  /** @param {string} name @param {string} selector */
  #part (name, selector) {
    return /** @type {HTMLElement} */ (this.#list.querySelector(`[data-column="${name}"] ${selector}`))
  }
}
