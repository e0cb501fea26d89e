import { Delivery } from './delivery.js'

/** How many deliveries with changed rows are known after they have ended, in case that something of them comes late. */
const MAX_REMEMBERED = 10_000

/**
 * The deliveries under way in this process, by the id that messages carry with the number of the attempt. Stage in opens and closes them;
 * sinks and settle nodes only know that text. An id that is not here belongs to a stage in that is gone: what was stored is stored, and
 * nothing waits for the answer.
 *
 * @typedef {import('./attempt.js').Piece} Piece
 */
export class Deliveries {
  /** @type {Map<string, Delivery>} */
  #open = new Map()
  /** Of those that are finished: the attempts that each sink has stored. @type {Map<string, Map<string, Set<number>>>} oldest first */
  #finished = new Map()

  /** @param {ConstructorParameters<typeof Delivery>[0]} options */
  open (options) {
    const delivery = new Delivery(options)
    this.#open.set(delivery.id, delivery)
    this.#finished.delete(delivery.id)
    return delivery
  }

  /** @param {string} id */
  close (id) {
    const delivery = this.#open.get(id)
    if (!delivery) return
    delivery.close()
    this.#open.delete(id)
    if (delivery.finished && delivery.isUnrecorded) this.#remember(delivery)
  }

  /**
   * @param {string|undefined} attemptId
   * @param {string} sink
   * @param {Piece} piece
   * @returns {boolean} whether there is something to store
   */
  accept (attemptId, sink, piece) {
    const [id, number] = parse(attemptId)
    const delivery = this.#open.get(id)
    if (delivery) return delivery.accept(sink, number, piece)
    return this.#finished.get(id)?.get(sink)?.has(number) ?? true
  }

  /** @param {string|undefined} attemptId @param {string} sink @param {Piece} piece */
  settle (attemptId, sink, piece) {
    const [id, number] = parse(attemptId)
    this.#open.get(id)?.settle(sink, number, piece)
  }

  /** @param {string|undefined} attemptId @param {string} sink @param {Piece} piece @returns {boolean} whether it comes again */
  release (attemptId, sink, piece) {
    if (attemptId === undefined) return false
    const [id, number] = parse(attemptId)
    return this.#open.get(id)?.release(sink, number, piece) ?? !this.#finished.has(id)
  }

  /** @param {string} attemptId @param {string} sink @returns {boolean} whether the spool keeps it for the sink, see `Delivery` */
  postpone (attemptId, sink) {
    const [id] = parse(attemptId)
    return this.#open.get(id)?.postpone(sink) ?? !this.#finished.has(id)
  }

  /**
   * A flow drops a delivery, or a part of it, on purpose.
   * @param {string} attemptId
   * @param {Piece['part']} part
   */
  drop (attemptId, part) {
    const [id, number] = parse(attemptId)
    this.#open.get(id)?.drop(number, part)
  }

  /** What flows have under way may be lost: for a sink that stops, or for all of them. @param {string} [sink] */
  doubt (sink) {
    for (const delivery of this.#open.values()) delivery.doubt(sink)
  }

  /** A sink's database has lost what it had stored. @param {string} sink */
  setBack (sink) {
    for (const delivery of this.#open.values()) delivery.setBack(sink)
  }

  /** @param {Delivery} delivery */
  #remember ({ id, sinks }) {
    const stored = Array.from(sinks, ([sink, { attempts }]) => {
      return /** @type {const} */ ([sink, new Set(attempts.filter(({ isRefused }) => !isRefused).map(({ number }) => number))])
    })
    this.#finished.set(id, new Map(stored))
    if (this.#finished.size <= MAX_REMEMBERED) return
    const [oldest] = this.#finished.keys()
    this.#finished.delete(oldest)
  }
}

/** @param {string} [attemptId] @returns {[id: string, attempt: number]} */
function parse (attemptId = '') {
  const at = attemptId.lastIndexOf('#')
  return [attemptId.slice(0, Math.max(0, at)), Number(attemptId.slice(at + 1))]
}

export const deliveries = new Deliveries()
