import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * A FAKE network in front of a real server on 127.0.0.1: it holds whatever passes for a while in each way, counts how often the way
 * changes, and breaks a connection when it sees what it was told to wait for.
 */
export class FakeNetwork {
  /** How often somebody asked after an answer. */
  asked = 0
  #delayMs
  /** Milliseconds, of all that passed. */
  #held = { sum: 0, count: 0 }
  /** @type {{way: 'request'|'answer', text: string}[]} */
  #breaks = []
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set()
  #server

  /** @param {number} port  of the server @param {{delayMs?: number}} [options]  one way */
  constructor (port, { delayMs = 0 } = {}) {
    this.#delayMs = delayMs
    this.#server = createServer({ noDelay: true }, client => this.#serve(client, connect({ port, host: '127.0.0.1', noDelay: true })))
  }

  /** @returns {Promise<number>} its port */
  async listen () {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port
  }

  /** How long it has really held what passed, on average: on a busy machine longer than it was to. */
  get heldMs () { return this.#held.sum / this.#held.count }

  /**
   * One after the other: each when something with this text comes, which then gets lost.
   * @param {'request'|'answer'} way @param {string} text
   */
  breakOn (way, text) { this.#breaks.push({ way, text }) }

  close () {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  /** @param {import('node:net').Socket} client @param {import('node:net').Socket} upstream */
  #serve (client, upstream) {
    let isAnswered = true
    const both = [client, upstream]
    const end = () => { for (const socket of both) socket.destroy() }
    /** @param {'request'|'answer'} way @param {import('node:net').Socket} from @param {import('node:net').Socket} to */
    const pass = (way, from, to) => {
      this.#sockets.add(from)
      from.on('error', end)
      from.on('close', () => {
        this.#sockets.delete(from)
        setTimeout(end, this.#delayMs) // behind what is still on its way
      })
      from.on('data', chunk => {
        const [next] = this.#breaks
        if (next?.way === way && chunk.includes(next.text)) {
          this.#breaks.shift()
          return end()
        }
        if (way === 'request' && isAnswered) this.asked++
        isAnswered = way === 'answer'
        const cameMs = performance.now()
        setTimeout(() => {
          this.#held.sum += performance.now() - cameMs
          this.#held.count++
          to.write(chunk)
        }, this.#delayMs)
      })
    }
    pass('request', client, upstream)
    pass('answer', upstream, client)
  }
}
