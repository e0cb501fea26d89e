/** @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue */

/** How many of the new dead letters an event carries. */
const MAX_NEWEST = 10

/** Notices new dead letters in some queues. */
export class Arrivals {
  /** @type {WeakMap<DeadLetterQueue, number>} how many there were */
  #known = new WeakMap()
  #queues
  #onArrival

  /**
   * @param {() => [sink: string, queue: DeadLetterQueue][]} queues
   * @param {(event: {sink: string, added: number, count: number, newest: object[]}) => void} onArrival
   */
  constructor (queues, onArrival) {
    this.#queues = queues
    this.#onArrival = onArrival
  }

  async look () {
    for (const [sink, queue] of this.#queues()) {
      const { count } = queue
      const added = count - (this.#known.get(queue) ?? count)
      this.#known.set(queue, count)
      if (added <= 0) continue
      const newest = await queue.list({ offset: Math.max(count - added, count - MAX_NEWEST), limit: MAX_NEWEST })
      this.#onArrival({ sink, added, count, newest })
    }
  }
}
