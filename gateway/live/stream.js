import { WebSocketServer } from 'ws'

/**
 * What viewers are told, again and again.
 *
 * @typedef {object} Feed
 * @property {() => string} [first]  what a newcomer needs to understand the rest
 * @property {() => string} next
 * @property {() => void} close
 */

/** A viewer that reads too slowly misses something instead of filling the gateway's memory. */
const MAX_UNSENT_BYTES = 2 ** 20

/** Tells all its viewers the same, and opens its feed only while there are any. */
export class Stream {
  #sockets = new WebSocketServer({ noServer: true, clientTracking: true, maxPayload: 1024 })
  #isClosed = false
  #intervalMs
  #open
  /** @type {Feed|null} */
  #feed = null
  /** @type {NodeJS.Timeout|undefined} */
  #timer

  /** @param {number} intervalMs @param {() => Feed} open */
  constructor (intervalMs, open) {
    this.#intervalMs = intervalMs
    this.#open = open
    this.#sockets.on('connection', socket => {
      socket.on('error', () => socket.terminate())
      socket.on('close', () => this.#onViewers())
      this.#onViewers()
      const first = this.#feed?.first?.()
      if (first) socket.send(first)
    })
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:stream').Duplex} socket @param {Buffer} head */
  accept (request, socket, head) {
    this.#sockets.handleUpgrade(request, socket, head, client => this.#sockets.emit('connection', client, request))
  }

  close () {
    this.#isClosed = true
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#sockets.close()
    this.#onViewers()
  }

  #onViewers () {
    const isWatched = !this.#isClosed && this.#sockets.clients.size > 0
    if (isWatched && !this.#feed) {
      this.#feed = this.#open()
      this.#timer = setInterval(() => this.#send(), this.#intervalMs)
      this.#timer.unref()
    } else if (!isWatched && this.#feed) {
      clearInterval(this.#timer)
      this.#feed.close()
      this.#feed = null
    }
  }

  #send () {
    const text = this.#feed?.next()
    if (text === undefined) return
    for (const socket of this.#sockets.clients) {
      if (socket.bufferedAmount < MAX_UNSENT_BYTES) socket.send(text)
    }
  }
}
