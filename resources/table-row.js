import { applies, isEmpty, presetOf, readOption, readRow } from './options.js'
import { fieldOf, placeholderOf, textOf, valueOf } from './table-cells.js'

/** @typedef {import('./table-cells.js').Field} Field */

/**
 * A row of a table: text, or fields while it is edited. Columns that are folded away have no cells in it.
 */
export class TableRow {
  #columns
  #items
  /** @type {Record<string, any>} by column, as stored or typed */
  #given = {}
  #isEdited = false
  /** What is wrong in it, by column. @type {Record<string, string>} */
  problems = {}

  /**
   * @param {import('./options.js').Schema} items
   * @param {Record<string, any>} entry
   * @param {(text: string) => string} text  of the form's catalogue
   */
  constructor (items, entry, text) {
    this.#items = items
    this.#columns = Object.keys(items.properties).filter(name => !items.properties[name]['x-advanced'])
    this.element = document.createElement('tr')
    const button = `<button type="button" tabindex="-1" data-do="delete" title="${text('deleteRow')}">✕</button>`
    this.element.innerHTML =
      `<th scope="row"></th>${'<td></td>'.repeat(this.#columns.length)}<td class="sluice-row-tools">${button}</td>`
    this.read = readRow(items, {})
    this.write(typeof entry === 'object' && entry !== null ? entry : {})
  }

  /** As it stands, without empty cells and those that do not matter. */
  get entry () {
    const kept = Object.keys(this.#items.properties).filter(name => !isEmpty(this.#given[name]) && this.#applies(name))
    return Object.fromEntries(kept.map(name => [name, this.#given[name]]))
  }

  /** What is right, but may have been meant otherwise. @returns {{column: string, problem: string}[]} */
  get warnings () {
    return Object.entries(this.#items.properties).flatMap(([column, property]) => {
      const given = this.#given[column]
      const warning = typeof given === 'string' ? readOption(property, given).warning : undefined
      return warning ? [{ column, problem: warning }] : []
    })
  }

  /** As stored or typed. @param {string} name  of a column */
  given (name) {
    return this.#given[name]
  }

  /** A column as it is in this row: where its preset says what an empty cell means, that. @param {string} name */
  property (name) {
    const property = this.#items.properties[name]
    const usual = presetOf(this.#items, this.#given)[name]
    if (usual === undefined) return property
    const labels = property['x-labels'] ?? {}
    return property.enum
      ? { ...property, 'x-labels': { ...labels, '': labels[usual] ?? usual } }
      : { ...property, default: usual, 'x-labels': undefined }
  }

  /** The fields that can be edited, while it is. */
  get fields () {
    return /** @type {Field[]} */ ([...this.element.querySelectorAll('[data-name]:enabled')])
  }

  /** @param {Record<string, any>} values  of some or all columns */
  write (values) {
    this.#given = { ...this.#given, ...values }
    this.#show()
  }

  /** Takes what has been typed. @param {Field} field */
  type (field) {
    this.#given[String(field.dataset.name)] = valueOf(field)
    this.#enable()
  }

  /** @param {boolean} isEdited */
  edit (isEdited) {
    this.#isEdited = isEdited
    this.element.classList.toggle('sluice-edited', isEdited)
    this.#show()
  }

  /** @param {Record<string, string>} problems  by column */
  mark (problems) {
    const names = Object.keys(problems)
    if (names.length === 0 && Object.keys(this.problems).length === 0) return
    this.problems = problems
    for (const [i, name] of this.#columns.entries()) {
      const cell = this.element.cells[i + 1]
      cell.classList.toggle('sluice-bad', name in problems)
      cell.title = problems[name] ?? ''
      cell.querySelector('[data-name]')?.setAttribute('aria-invalid', String(name in problems))
    }
  }

  #show () {
    this.read = readRow(this.#items, this.#given)
    for (const [i, name] of this.#columns.entries()) {
      const property = this.property(name)
      const cell = this.element.cells[i + 1]
      const { text, isDefault } = textOf(property, this.#given[name])
      const isOff = !this.#applies(name)
      const state = isOff ? 'sluice-off' : isDefault ? 'sluice-default' : ''
      cell.className = [property.type, property.enum ? 'enum' : '', state, name in this.problems ? 'sluice-bad' : ''].join(' ').trim()
      if (this.#isEdited) {
        const field = fieldOf(property, this.#given[name])
        field.dataset.name = name
        field.disabled = isOff
        cell.replaceChildren(field)
      } else cell.textContent = isOff ? '' : text
    }
  }

  /** Cells that do not matter under the others cannot be edited. */
  #enable () {
    this.read = readRow(this.#items, this.#given)
    for (const [i, name] of this.#columns.entries()) {
      const cell = this.element.cells[i + 1]
      const isOff = !this.#applies(name)
      cell.classList.toggle('sluice-off', isOff)
      const field = /** @type {Field} */ (cell.firstElementChild)
      field.disabled = isOff
      if ('placeholder' in field) field.placeholder = placeholderOf(this.property(name))
    }
  }

  /** @param {string} name */
  #applies (name) {
    return applies(this.#items.properties[name], this.read.value ?? {})
  }
}
