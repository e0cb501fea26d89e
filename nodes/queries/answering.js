import { SluiceError } from '../../gateway/base/errors.js'
import { Turns } from '../../gateway/base/turns.js'

const MAX_WAITING = 100

/** The option of a node that answers several messages side by side. @type {import('../../resources/options.js').Property} */
export const parallel = {
  type: 'integer',
  title: 'In parallel',
  description: 'So many messages are answered side by side, as far as the server has connections; with more than one, answers may ' +
    'overtake each other.',
  minimum: 1,
  maximum: 48,
  default: 1,
  'x-advanced': true
}

/** Answers messages in the order in which they came, so many at a time. */
export class Answering {
  #closing = new AbortController()
  #turns
  #most
  /** @type {Set<Promise<unknown>>} */
  #answering = new Set()

  /** @param {number} side  so many side by side */
  constructor (side) {
    this.#most = MAX_WAITING + side - 1
    this.#turns = new Turns(side)
  }

  /** Aborted when the node closes. */
  get signal () { return this.#closing.signal }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async answer (work) {
    if (this.#answering.size >= this.#most) {
      throw new SluiceError('SLUICE_QUERY_FULL', `${MAX_WAITING} queries wait in this node already.`, {
        fix: 'Ask less often, or for less at a time.'
      })
    }
    const answered = this.#turns.run(work, this.signal)
    this.#answering.add(answered)
    try {
      return await answered
    } finally {
      this.#answering.delete(answered)
    }
  }

  /** Ends what runs, and what waits. */
  async close () {
    this.#closing.abort(new SluiceError('SLUICE_QUERY_CLOSED', 'The query was ended, as its node was closed or deployed anew.'))
    await Promise.allSettled(this.#answering)
  }
}
