import { button, element, say } from './dom.js'
import { Groups } from './groups.js'
import { Pager } from './pager.js'
import { text } from './text.js'

/**
 * A table of many rows, of which it shows a page: searched, sorted, grouped. On a phone each row is a card.
 *
 * @template Row
 * @typedef {object} Column
 * @property {string} key  of its texts
 * @property {(row: Row) => string|number|null} value  to sort by
 * @property {(row: Row) => string} [text]  of the cell
 * @property {() => Cell<Row>} [cell]  for more than a text
 * @property {boolean} [isWide]  it has a line of its own on a phone
 */
/** @template Row @typedef {{node: Element, show: (row: Row) => void}} Cell */
/**
 * @template Row
 * @typedef {object} ListOptions
 * @property {string} name  of its texts
 * @property {Column<Row>[]} columns  the first is its name, the second its state
 * @property {(row: Row) => string} words  to search in
 * @property {Record<string, (row: Row) => string>} [groupings]  by name
 * @property {(row: Row) => string} href  of its own page
 */
/** @template Row @typedef {{line: HTMLElement, show: (row: Row) => void}} Line */

/** They are found at a glance. */
const FEW_ROWS = 6

/** @template {{key: string, level: import('./levels.js').Level, rate: number|null}} Row */
export class List {
  #options
  #body = element('tbody', { role: 'rowgroup' })
  #empty = element('p', { class: 'dim' })
  /** @type {Map<string, Line<Row>>} */
  #lines = new Map()
  /** @type {Row[]} */
  #rows = []
  /** By the state, the worst first. */
  #sort = { column: 1, isDown: false }
  #search = ''
  /** @type {Groups<Row>} */
  #groups
  #pager = new Pager(() => this.#draw())
  /** @type {HTMLElement[]} */
  #heads = []
  #toolbar

  /** @param {HTMLElement} parent @param {ListOptions<Row>} options */
  constructor (parent, options) {
    this.#options = options
    this.#groups = new Groups(options.columns.length, () => this.#draw())
    const heading = text(`${options.name}.title`)
    const table = element('table', { role: 'table', class: 'list', 'aria-label': heading }, this.#head(), this.#body)
    this.#toolbar = this.#tools()
    parent.append(element('div', { class: 'list-head' }, element('h2', {}, heading), this.#toolbar), table, this.#empty, this.#pager.node)
  }

  /** @param {Row[]} rows */
  show (rows) {
    this.#rows = rows
    this.#draw()
  }

  #head () {
    const { columns } = this.#options
    const cells = columns.map(({ key }, i) => {
      const head = element('th', { role: 'columnheader', scope: 'col', title: text(`${key}.help`) })
      head.append(button(text(key), () => this.#sortBy(i)))
      return head
    })
    this.#heads = cells
    this.#markSort()
    return element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...cells))
  }

  #tools () {
    const { name, columns, groupings = {} } = this.#options
    const search = element('input', { type: 'search', placeholder: text('list.search'), 'aria-label': text(`${name}.search`) })
    search.addEventListener('input', () => {
      this.#search = search.value.trim().toLowerCase()
      this.#pager.first()
      this.#draw()
    })
    const sort = select(text('list.sort'), columns.map(({ key }, i) => [String(i), text(key)]), value => this.#sortBy(Number(value)))
    sort.classList.add('phone')
    sort.value = String(this.#sort.column)
    const names = Object.keys(groupings)
    const group = names.length > 0 && select(text('list.group'), [['', text('list.noGroup')], ...names.map(each => {
      return /** @type {[string, string]} */ ([each, text(`list.by.${each}`)])
    })], value => {
      this.#groups.by = value === '' ? null : groupings[value]
      this.#pager.first()
      this.#draw()
    })
    return element('div', { class: 'tools' }, search, group, sort)
  }

  /** Again turns it round; figures begin with the largest. @param {number} column */
  #sortBy (column) {
    const isNumber = this.#rows.some(row => typeof this.#options.columns[column].value(row) === 'number')
    const isDown = this.#sort.column === column ? !this.#sort.isDown : isNumber
    this.#sort = { column, isDown }
    this.#markSort()
    this.#draw()
  }

  #markSort () {
    for (const [i, head] of this.#heads.entries()) {
      if (i === this.#sort.column) head.setAttribute('aria-sort', this.#sort.isDown ? 'descending' : 'ascending')
      else head.removeAttribute('aria-sort')
    }
  }

  #draw () {
    const { name, words } = this.#options
    this.#toolbar.hidden = this.#rows.length < FEW_ROWS
    const found = this.#rows.filter(row => words(row).toLowerCase().includes(this.#search))
    const items = this.#groups.arrange(this.#sorted(found))
    const page = this.#pager.cut(items)
    const lines = page.map(item => 'line' in item ? item.line : this.#line(item))
    for (const [i, line] of lines.entries()) {
      if (this.#body.children[i] !== line) this.#body.insertBefore(line, this.#body.children[i] ?? null)
    }
    while (this.#body.children.length > lines.length) this.#body.lastElementChild?.remove()
    this.#empty.hidden = found.length > 0
    say(this.#empty, this.#rows.length === 0 ? text(`${name}.none`) : text('list.notFound'))
    const keys = new Set(this.#rows.map(({ key }) => key))
    for (const key of this.#lines.keys()) if (!keys.has(key)) this.#lines.delete(key)
  }

  /** What is not known comes last. @param {Row[]} rows */
  #sorted (rows) {
    const { column, isDown } = this.#sort
    const { value } = this.#options.columns[column]
    const order = isDown ? -1 : 1
    return rows.toSorted((a, b) => {
      const [one, other] = [value(a), value(b)]
      if (one === null || other === null) return Number(one === null) - Number(other === null)
      return order * compare(one, other)
    })
  }

  /** @param {Row} row */
  #line (row) {
    const line = this.#lines.get(row.key) ?? this.#newLine(row)
    this.#lines.set(row.key, line)
    line.show(row)
    return line.line
  }

  /** @param {Row} first @returns {Line<Row>} */
  #newLine (first) {
    const { columns, href } = this.#options
    const cells = columns.map(({ key, text: words, cell, isWide }) => {
      const made = cell?.()
      const box = element('td', { role: 'cell', 'data-label': text(key), class: isWide ? 'wide' : '' }, made?.node)
      return { box, show: (/** @type {Row} */ row) => made ? made.show(row) : say(box, words?.(row) ?? '') }
    })
    const line = element('tr', { role: 'row' }, ...cells.map(({ box }) => box))
    line.addEventListener('click', event => {
      if (!(/** @type {Element} */ (event.target).closest('a, button')) && !getSelection()?.toString()) location.hash = href(first)
    })
    return {
      line,
      show (row) {
        line.className = row.level
        for (const { show } of cells) show(row)
      }
    }
  }
}

/** @param {string|number} one @param {string|number} other */
function compare (one, other) {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one).localeCompare(String(other), undefined, { numeric: true })
}

/** @param {string} label @param {[value: string, label: string][]} choices @param {(value: string) => void} act */
export function select (label, choices, act) {
  const options = choices.map(([value, words]) => {
    const option = element('option', {}, words)
    option.value = value
    return option
  })
  const made = element('select', { 'aria-label': label }, ...options)
  made.addEventListener('change', () => act(made.value))
  return made
}
