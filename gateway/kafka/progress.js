/**
 * @typedef {import('./fetcher.js').Place} Place
 * @typedef {import('./fetcher.js').KafkaMessage} KafkaMessage
 */

/** How far a stream has been read, and dealt with. */
export class Progress {
  /** Under which leader epochs it was written, from which offset on. @type {Place[]} */
  #epochs = []
  /** @type {import('./membership.js').Committed|null} */
  #due = null

  /** @param {KafkaMessage[]} messages */
  read (messages) {
    for (const { offset, leaderEpoch } of messages) {
      if (this.#epochs.at(-1)?.leaderEpoch !== leaderEpoch) this.#epochs.push({ offset, leaderEpoch })
    }
  }

  /** @param {bigint} offset @param {string} note */
  commit (offset, note) {
    while (this.#epochs.length > 1 && this.#epochs[1].offset < offset) this.#epochs.shift()
    const [first] = this.#epochs
    this.#due = { offset, leaderEpoch: first && first.offset < offset ? /** @type {number} */ (first.leaderEpoch) : -1, note }
  }

  get due () { return this.#due }

  /** @param {import('./membership.js').Committed} committed */
  told (committed) {
    if (this.#due === committed) this.#due = null
  }
}
