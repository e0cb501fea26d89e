import { once } from 'node:events'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {object} Reply
 * @property {Uint8Array} bytes
 * @property {number} [waitMs]  before it is sent
 * @property {boolean} [hangsUp]  the connection ends with it, where it is one of a network
 *
 * @typedef {object} SessionEvents
 * @property {(request: import('./framing.js').Request) => Reply|null} request  null where there is no reply
 * @property {(stretches: number) => void} bad  how many stretches of bytes came that are not a request
 * @property {(error: unknown) => void} failed  of the simulator itself; the connection is closed
 * @property {() => void} closed  called once
 */

/** Silence that ends a request on a serial line: longer than a converter to TCP puts between its parts. */
const SILENCE_MS = 100

/** One connection. Its requests are answered one after another, in order; until that is done no more are read. */
export class Session {
  #stream
  #framing
  #events
  #closing = new AbortController()
  /** @type {NodeJS.Timeout|undefined} */
  #silence
  #turn = Promise.resolve()

  /** @param {import('node:stream').Duplex} stream @param {import('./framing.js').ServerFraming} framing @param {SessionEvents} events */
  constructor (stream, framing, events) {
    this.#stream = stream
    this.#framing = framing
    this.#events = events
    stream.on('error', () => {}) // a close follows
    stream.once('close', () => {
      clearTimeout(this.#silence)
      this.#closing.abort()
      events.closed()
    })
    stream.on('data', chunk => {
      clearTimeout(this.#silence)
      this.#next(() => framing.receive(chunk))
    })
  }

  /** @param {() => import('./framing.js').Intake} take */
  #next (take) {
    this.#stream.pause()
    this.#turn = this.#turn.then(() => this.#handle(take())).then(() => this.#goOn(), error => {
      if (this.#closing.signal.aborted) return
      this.#events.failed(error)
      this.#stream.destroy()
    })
  }

  #goOn () {
    if (this.#closing.signal.aborted) return
    if (this.#framing.waits()) this.#silence = setTimeout(() => this.#next(() => this.#framing.settle()), SILENCE_MS)
    this.#stream.resume()
  }

  /** @param {import('./framing.js').Intake} intake */
  async #handle ({ requests, bad, isLost }) {
    /** @type {Uint8Array[]} */
    const ready = []
    const send = async () => {
      if (ready.length === 0 || this.#stream.write(Buffer.concat(ready.splice(0)))) return
      await once(this.#stream, 'drain', { signal: this.#closing.signal })
    }
    for (const request of requests) {
      const reply = this.#events.request(request)
      if (!reply) continue
      if (reply.waitMs) {
        await send()
        await sleep(reply.waitMs, undefined, { signal: this.#closing.signal })
      }
      ready.push(reply.bytes)
      if (!reply.hangsUp || !(this.#stream instanceof Socket)) continue
      this.#stream.end(Buffer.concat(ready))
      return
    }
    await send()
    if (bad > 0) this.#events.bad(bad)
    if (isLost) this.#stream.end()
  }
}
