import { button, element, say } from './dom.js'
import { text } from './text.js'

const PAGE_ROWS = matchMedia('(max-width: 900px)').matches ? 20 : 50

/** Shows so many rows at a time, fewer where each is a card. */
export class Pager {
  #first = 0
  #count = 0
  #where = element('span', { role: 'status' })
  #back
  #on

  /** @param {() => void} draw */
  constructor (draw) {
    const turn = (/** @type {number} */ by) => () => {
      this.#first += by
      draw()
    }
    this.#back = button(text('list.back'), turn(-PAGE_ROWS))
    this.#on = button(text('list.on'), turn(PAGE_ROWS))
    this.node = element('div', { class: 'pager' }, this.#back, this.#where, this.#on)
  }

  first () { this.#first = 0 }

  /** @template Item @param {Item[]} items @returns {Item[]} those of this page */
  cut (items) {
    this.#count = items.length
    const lastPage = Math.max(0, Math.ceil(this.#count / PAGE_ROWS) - 1) * PAGE_ROWS
    this.#first = Math.min(Math.max(0, this.#first), lastPage)
    const end = Math.min(this.#count, this.#first + PAGE_ROWS)
    this.node.hidden = this.#count <= PAGE_ROWS
    this.#back.disabled = this.#first === 0
    this.#on.disabled = end === this.#count
    say(this.#where, text('list.where', { first: this.#first + 1, last: end, count: this.#count }))
    return items.slice(this.#first, end)
  }
}
