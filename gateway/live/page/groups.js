import { quantity } from '../../stats/format.js'
import { button, element, say } from './dom.js'
import { dot } from './marks.js'
import { worst } from './levels.js'
import { text } from './text.js'

/** @template Row @typedef {{line: HTMLElement, show: (name: string, rows: Row[], isOpen: boolean) => void}} Heading */

/**
 * Rows under headings that open and close. With few groups they begin open.
 * @template {{level: import('./levels.js').Level, rate: number|null}} Row
 */
export class Groups {
  /** @type {((row: Row) => string)|null} */
  by = null
  #columns
  #draw
  /** Those that are not as they begin. @type {Set<string>} */
  #turned = new Set()
  /** @type {Map<string, Heading<Row>>} */
  #headings = new Map()

  /** @param {number} columns @param {() => void} draw */
  constructor (columns, draw) {
    this.#columns = columns
    this.#draw = draw
  }

  /** @param {Row[]} rows @returns {(Row|{line: HTMLElement})[]} with headings between them */
  arrange (rows) {
    if (!this.by) return rows
    const groups = Map.groupBy(rows, this.by)
    return [...groups].flatMap(([name, its]) => {
      const isOpen = (rows.length <= 50) !== this.#turned.has(name)
      const heading = this.#headings.get(name) ?? this.#newHeading(name)
      this.#headings.set(name, heading)
      heading.show(name, its, isOpen)
      return [{ line: heading.line }, ...isOpen ? its : []]
    })
  }

  /** @param {string} name @returns {Heading<Row>} */
  #newHeading (name) {
    const toggle = button('', () => {
      if (!this.#turned.delete(name)) this.#turned.add(name)
      this.#draw()
    })
    const mark = dot()
    const cell = element('th', { role: 'rowheader', colspan: String(this.#columns), scope: 'rowgroup' }, mark.node, toggle)
    const line = element('tr', { role: 'row', class: 'group' }, cell)
    return {
      line,
      show (title, rows, isOpen) {
        toggle.setAttribute('aria-expanded', String(isOpen))
        mark.show(worst(rows.map(({ level }) => level)))
        const rate = rows.reduce((sum, row) => sum + (row.rate ?? 0), 0)
        say(toggle, text('list.groupHead', { name: title || text('list.here'), count: rows.length, rate: quantity(rate) }))
      }
    }
  }
}
