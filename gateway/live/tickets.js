import { randomBytes } from 'node:crypto'

const VALID_MS = 30_000

/**
 * One-time tickets. A websocket's upgrade bypasses whatever guards the web pages, and it may come from any site; a ticket is handed out
 * as a page, to those who may see it, and lets its holder in once.
 */
export class Tickets {
  /** @type {Map<string, number>} ticket → when it ends, by the monotonic clock */
  #open = new Map()
  #now

  /** @param {() => number} [now]  milliseconds */
  constructor (now = () => performance.now()) {
    this.#now = now
  }

  issue () {
    for (const [ticket, endsAtMs] of this.#open) {
      if (endsAtMs < this.#now()) this.#open.delete(ticket)
    }
    const ticket = randomBytes(18).toString('base64url')
    this.#open.set(ticket, this.#now() + VALID_MS)
    return ticket
  }

  /** True once for a ticket that was issued and is still valid. @param {string|null} ticket */
  redeem (ticket) {
    const endsAtMs = this.#open.get(ticket ?? '')
    this.#open.delete(ticket ?? '')
    return endsAtMs !== undefined && endsAtMs >= this.#now()
  }
}
