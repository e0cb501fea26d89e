import { checked } from './checks.js'
import { lengthProblem, sentenceOf, tableItems, tableProblems } from './options.js'
import { RowDetails } from './row-details.js'
import { grouped } from './sentences.js'
import { textOf, titleOf, widthOf } from './table-cells.js'
import { TableRow } from './table-row.js'
import { addTransfer } from './table-transfer.js'

/** So many problems are listed below a table; the others are marked in it. */
const LISTED_PROBLEMS = 5

/** The most rows of a table whose schema sets no limit. */
const MAX_ROWS = 10_000

/** By rows. @type {Record<string, number>} */
const ARROWS = { ArrowUp: -1, ArrowDown: 1 }

/** @typedef {import('./table-cells.js').Field} Field */

/**
 * A list of objects as a table that stays quick with thousands of rows: only one row at a time has fields, all others are text. Columns
 * that are advanced are folded away below it.
 *
 * @typedef {object} Action  something to do with the row that is edited
 * @property {string} text
 * @property {(row: ActionRow) => void} run
 *
 * @typedef {object} ActionRow
 * @property {() => import('./options.js').ReadRow} read
 * @property {(column: string) => string} shown  what its cell says
 * @property {(values: object) => void} write
 * @property {() => boolean} isThere  still
 */
export class Table {
  #element
  #property
  #items
  #text
  #changed
  #action
  #others
  /** The other options at the last refresh. */
  #known = ''
  #body
  #columns
  #details
  /** @type {TableRow[]} */
  #rows = []
  /** @type {TableRow|undefined} the one with fields */
  #edited

  /**
   * @param {HTMLElement} element  becomes the table
   * @param {import('./options.js').Property} property
   * @param {object} options
   * @param {object[]} options.entries
   * @param {string} options.fileName  of an export, without ending
   * @param {(key: string, values?: object) => string} options.text  of the form's catalogue
   * @param {() => void} options.changed  called when rows come, go or change otherwise than by typing
   * @param {Action} [options.action]
   * @param {() => Record<string, any>} options.others  the node's other options, as they stand
   */
  constructor (element, property, { entries, fileName, text, changed, action, others }) {
    this.#element = element
    this.#property = property
    this.#items = /** @type {import('./options.js').Schema} */ (tableItems(property))
    this.#text = text
    this.#changed = changed
    this.#action = action
    this.#others = others
    element.innerHTML = `
      <div class="sluice-table-scroll" tabindex="0" role="group">
        <table><colgroup></colgroup><thead><tr></tr></thead><tbody></tbody></table><p class="sluice-table-hint"></p>
      </div>
      <div class="sluice-details"></div>
      <div class="sluice-table-bar">
        <button type="button" class="red-ui-button" data-do="add"></button>
        <span class="sluice-table-count" role="status"></span>
      </div>
      <ul class="sluice-table-problems" aria-live="assertive"></ul>`
    this.#part('.sluice-table-scroll').ariaLabel = property.title
    this.#part('[data-do=add]').textContent = text('addRow')
    this.#part('.sluice-table-hint').textContent = text('noRows')
    this.#body = this.#part('tbody')
    this.#columns = Object.keys(this.#items.properties).filter(name => !this.#items.properties[name]['x-advanced'])
    this.#details = new RowDetails(this.#part('.sluice-details'), this.#items, text)
    this.#fillHead()
    addTransfer(this, element, { properties: this.#items.properties, maxRows: property.maxItems ?? MAX_ROWS, text, fileName })

    element.addEventListener('click', event => this.#click(/** @type {HTMLElement} */ (event.target)))
    this.#body.addEventListener('mousedown', event => this.#press(event))
    this.#body.addEventListener('keydown', event => this.#key(event))
    element.addEventListener('input', event => this.#typed(/** @type {Field} */ (event.target)))
    this.fill(entries)
  }

  /** The rows as they stand. */
  get entries () {
    return this.#rows.map(({ entry }) => entry)
  }

  /** What is wrong with the table as a whole. @returns {string|undefined} */
  get problem () {
    const whole = checked(this.#property, this.#rows.map(({ read: { value = {} } }) => value), this.#others())
    return lengthProblem(this.#property, this.#rows.length) ?? whole.find(({ row }) => row === undefined)?.problem
  }

  /** Marks what is wrong now that other options have changed. */
  refresh () {
    const others = JSON.stringify(this.#others())
    if (others === this.#known) return
    this.#known = others
    this.#mark()
  }

  /** Where the caret is: the indexes of the row and the column. */
  get place () {
    const cell = this.#element.contains(document.activeElement) ? document.activeElement?.closest('td') : null
    if (!cell || !this.#edited) return { row: this.#rows.length, column: 0 }
    return { row: this.#rows.indexOf(this.#edited), column: cell.cellIndex - 1 }
  }

  /** Replaces all rows. @param {object[]} entries */
  fill (entries) {
    this.#edited = undefined
    this.#rows = []
    this.#body.replaceChildren()
    this.write(0, entries)
  }

  /** Writes into the cells from a row on, adding rows. @param {number} start  its index @param {object[]} entries */
  write (start, entries) {
    const known = this.#rows.slice(start, start + entries.length)
    for (const [i, row] of known.entries()) row.write(entries[i])
    const added = entries.slice(known.length).map(entry => new TableRow(this.#items, entry, this.#text))
    this.#rows.push(...added)
    this.#body.append(...added.map(({ element }) => element))
    this.#settle()
  }

  /** @param {number} row  its index @param {number} column */
  goTo (row, column) {
    this.#goTo(this.#rows[row], column)
  }

  #fillHead () {
    const columns = this.#columns.map(name => this.#items.properties[name])
    const widths = columns.map(widthOf)
    const heads = columns.map(column =>
      Object.assign(document.createElement('th'), { textContent: titleOf(column), title: column.description, className: column.type }))
    this.#part('thead > tr').append(document.createElement('th'), ...heads, document.createElement('th'))
    const cols = widths.map(width => `<col style="width: ${width}ch">`).join('')
    const last = this.#action ? 'sluice-col-action' : 'sluice-col-tools'
    this.#part('colgroup').innerHTML = `<col class="sluice-col-number">${cols}<col class="${last}">`
    this.#element.style.setProperty('--sluice-columns', `${widths.reduce((sum, width) => sum + width, 0)}ch`)
  }

  /** After rows have come, gone or changed: one is to be edited, and all that is wrong is marked. */
  #settle () {
    if (!this.#edited) this.#open(this.#rows[0])
    this.#details.show(this.#edited, this.#edited ? this.#rows.indexOf(this.#edited) : -1)
    this.#element.classList.toggle('sluice-empty', this.#rows.length === 0)
    this.#mark()
    this.#changed()
  }

  /** Gives a row its fields, and takes them from the other. @param {TableRow|undefined} row */
  #open (row) {
    if (row === this.#edited) return
    this.#edited?.edit(false)
    this.#edited?.element.querySelector('[data-do=act]')?.remove()
    this.#edited = row
    row?.edit(true)
    this.#details.show(row, row ? this.#rows.indexOf(row) : -1)
    this.#details.mark(row?.problems ?? {})
    if (!row || !this.#action) return
    const className = 'red-ui-button red-ui-button-small'
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      tabIndex: -1,
      className,
      textContent: this.#action.text
    })
    button.dataset.do = 'act'
    row.element.lastElementChild?.prepend(button)
  }

  /** Goes to a row's first field that can be edited, from a column on. @param {TableRow|undefined} row @param {number} [column] */
  #goTo (row, column = 0) {
    if (!row) return
    this.#open(row)
    const field = row.fields.find(each => columnOf(each) >= column) ?? row.fields[0]
    field.focus()
    if ('select' in field) field.select()
  }

  #add () {
    this.write(this.#rows.length, [{}])
    this.#goTo(this.#rows.at(-1))
  }

  /** @param {TableRow} row */
  #delete (row) {
    const index = this.#rows.indexOf(row)
    this.#rows.splice(index, 1)
    row.element.remove()
    if (row === this.#edited) this.#edited = undefined
    this.#goTo(this.#rows[Math.min(index, this.#rows.length - 1)])
    this.#settle()
  }

  /** @param {TableRow} row @param {number} by  one row: -1 is up */
  #move (row, by) {
    const index = this.#rows.indexOf(row)
    const other = this.#rows[index + by]
    if (!other) return
    const field = /** @type {HTMLElement|null} */ (document.activeElement)
    this.#rows[index] = other
    this.#rows[index + by] = row
    row.element[by < 0 ? 'after' : 'before'](other.element)
    field?.focus()
    this.#settle()
  }

  /** @param {Field} field */
  #typed (field) {
    if (!field.dataset.name) return
    this.#edited?.type(field)
    this.#details.refresh(field)
    this.#mark()
  }

  /** @param {MouseEvent} event */
  #press (event) {
    const target = /** @type {HTMLElement} */ (event.target)
    const cell = /** @type {HTMLTableCellElement|null} */ (target.closest('td, th'))
    const row = cell && this.#rowOf(cell)
    if (!row || row === this.#edited || event.button !== 0 || target.closest('button')) return
    event.preventDefault()
    this.#goTo(row, Math.max(0, cell.cellIndex - 1))
    const field = /** @type {Field|null} */ (cell.firstElementChild)
    if (field?.type === 'checkbox' && !field.disabled) field.click()
  }

  /** @param {HTMLElement} target */
  #click (target) {
    const { do: deed, row, column } = target.dataset
    const own = this.#rowOf(target)
    if (deed === 'add') this.#add()
    else if (deed === 'delete' && own) this.#delete(own)
    else if (deed === 'act' && own) this.#action?.run(this.#actionRow(own))
    else if ((deed === 'moveUp' || deed === 'moveDown') && this.#edited) this.#move(this.#edited, deed === 'moveUp' ? -1 : 1)
    else if (row) {
      this.#goTo(this.#rows[Number(row)], Math.max(0, this.#columns.indexOf(String(column))))
      this.#details.goTo(String(column))
    }
  }

  /** @param {TableRow} row @returns {ActionRow} */
  #actionRow (row) {
    return {
      read: () => ({ ...row.read, problems: Object.entries(row.problems).map(([column, problem]) => ({ column, problem })) }),
      shown: name => textOf(row.property(name), row.given(name)).text,
      write: values => this.write(this.#rows.indexOf(row), [values]),
      isThere: () => this.#element.isConnected && this.#rows.includes(row)
    }
  }

  /** @param {Element} inside */
  #rowOf (inside) {
    return this.#rows.find(({ element }) => element.contains(inside))
  }

  /** @param {KeyboardEvent} event */
  #key (event) {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event
    const target = /** @type {Field} */ (event.target)
    const row = this.#edited
    if (!row || !target.dataset.name || ctrlKey || metaKey) return
    const index = this.#rows.indexOf(row)
    const column = columnOf(target)
    const isText = target.type === 'text'
    const by = key === 'Enter' ? (shiftKey ? -1 : 1) : ARROWS[key] ?? 0
    const next = by === 0 ? undefined : this.#rows[index + by]

    if (altKey) {
      if (key === 'Delete') this.#delete(row)
      else if (by && key !== 'Enter') this.#move(row, by)
      else return
    } else if (key === 'Enter' && by === 1 && !next) this.#add()
    else if (key === 'Enter' || (by && isText)) this.#goTo(next, column)
    else if (key === 'Tab' && !shiftKey && target === row.fields.at(-1) && this.#rows[index + 1]) this.#goTo(this.#rows[index + 1])
    else if (key === 'Tab' && shiftKey && target === row.fields[0] && this.#rows[index - 1]) this.#goToEnd(this.#rows[index - 1])
    else return
    event.preventDefault()
    event.stopPropagation() // Node-RED would look where the field was
  }

  /** @param {TableRow} row */
  #goToEnd (row) {
    this.#open(row)
    row.fields.at(-1)?.focus()
  }

  #mark () {
    const problems = tableProblems(this.#property, this.#rows.map(({ read }) => read), this.#others())
    const byRow = Map.groupBy(problems, ({ row }) => row)
    for (const [i, row] of this.#rows.entries()) {
      row.mark(Object.fromEntries(byRow.get(i)?.map(({ column, problem }) => [column, problem]) ?? []))
    }
    this.#details.mark(this.#edited?.problems ?? {})

    const count = (/** @type {string} */ key, /** @type {number} */ n) =>
      this.#text(n === 1 ? key : `${key}s`, { n: grouped(n) })
    const counts = [count('row', this.#rows.length), ...(problems.length > 0 ? [count('problem', problems.length)] : [])]
    this.#part('.sluice-table-count').textContent = counts.join(', ')
    this.#part('.sluice-table-bar').dataset.state = problems.length > 0 ? 'bad' : 'good'
    const warnings = this.#rows.flatMap((each, row) => each.warnings.map(warning => ({ row, ...warning })))
    this.#part('.sluice-table-problems').replaceChildren(
      ...problems.slice(0, LISTED_PROBLEMS).map(problem => problemItem(problem)),
      ...warnings.slice(0, LISTED_PROBLEMS).map(warning => problemItem(warning, 'sluice-warning'))
    )
  }

  /** @param {string} selector @returns {HTMLElement} */
  #part (selector) {
    return /** @type {HTMLElement} */ (this.#element.querySelector(selector))
  }
}

/** The index of the column that a field edits. @param {Field} field */
function columnOf (field) {
  return (field.closest('td')?.cellIndex ?? 1) - 1
}

/** @param {import('./options.js').CellProblem} problem @param {string} [className] */
function problemItem (problem, className = '') {
  const item = document.createElement('li')
  const link = Object.assign(document.createElement('button'), { type: 'button', textContent: sentenceOf(problem) })
  Object.assign(link.dataset, { row: problem.row, column: problem.column })
  item.className = className
  item.append(link)
  return item
}
