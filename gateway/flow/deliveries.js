import { Delivery } from './delivery.js'

/**
 * The deliveries under way in this process, by the id that messages carry. Stage in opens and closes them; sinks and settle nodes only
 * know the id. An id that is not here belongs to a stage in that is gone: what was stored is stored, and nothing waits for the answer.
 *
 * @typedef {import('./delivery.js').Piece} Piece
 */
export class Deliveries {
  /** @type {Map<string, Delivery>} */
  #open = new Map()

  /** @param {ConstructorParameters<typeof Delivery>[0]} options */
  open (options) {
    const delivery = new Delivery(options)
    this.#open.set(delivery.id, delivery)
    return delivery
  }

  /** @param {string} id */
  close (id) {
    this.#open.delete(id)
  }

  /** @param {string|undefined} id @param {string} sink @param {Piece} piece @returns {boolean} whether there is something to store */
  accept (id, sink, piece) {
    return this.#open.get(id ?? '')?.accept(sink, piece) ?? true
  }

  /** @param {string|undefined} id @param {string} sink @param {Piece} piece */
  settle (id, sink, piece) {
    if (id !== undefined) this.#open.get(id)?.settle(sink, piece)
  }

  /** @param {string|undefined} id @param {string} sink @param {Piece} piece */
  release (id, sink, piece) {
    if (id !== undefined) this.#open.get(id)?.release(sink, piece)
  }

  /**
   * A flow drops a delivery, or a part of it, on purpose.
   * @param {string|undefined} id
   * @param {Piece} piece
   * @returns {boolean} whether the id is known
   */
  drop (id, piece) {
    const delivery = id === undefined ? undefined : this.#open.get(id)
    for (const sink of delivery?.sinks.keys() ?? []) {
      if (delivery?.accept(sink, { ...piece, identified: false })) delivery.settle(sink, { ...piece, identified: false })
    }
    return delivery !== undefined
  }
}

export const deliveries = new Deliveries()
