import { backoff } from '../../base/backoff.js'

/**
 * Keeps one connection open: reopens it whenever it is lost, without end, after pauses that grow until a good reply has arrived.
 *
 * @typedef {object} LinkEvents
 * @property {() => void} up
 * @property {(reason: unknown) => boolean} closed  by the other side; whether it is reopened at once, before which it counts as down only
 *   where that fails
 * @property {(error: unknown, wasUp: boolean) => void} down  lost, or could not be opened
 * @property {(chunk: Uint8Array) => void} data
 */
export class Link {
  #transport
  #events
  #options
  #closing = new AbortController()
  /** @type {import('./transport.js').Connection|null} */
  #connection = null
  /** @type {NodeJS.Timeout|undefined} */
  #timer
  #attempts = 0
  #upSinceMs = 0
  #opening

  /**
   * @param {import('./transport.js').Transport} transport
   * @param {{firstRetryMs: number, longestRetryMs: number, random: () => number}} options
   * @param {LinkEvents} events
   */
  constructor (transport, options, events) {
    this.#transport = transport
    this.#options = options
    this.#events = events
    this.#opening = this.#open()
  }

  get isUp () { return this.#connection !== null }

  /** The stream to write to, while it is up. */
  get stream () { return this.#connection?.stream }

  /** A good reply came: the next failure starts again with the first pause. */
  proven () {
    this.#attempts = 0
  }

  /** Replaces this connection by a new one. @param {Error} reason */
  drop (reason) {
    if (this.#connection && this.#end(this.#connection)) this.#failed(reason, true)
  }

  async close () {
    this.#closing.abort(new Error('closed'))
    clearTimeout(this.#timer)
    await this.#opening
    const connection = this.#connection
    this.#connection = null
    await connection?.end()
  }

  async #open () {
    const { signal } = this.#closing
    try {
      const connection = await this.#transport.open(signal)
      if (signal.aborted) await connection.end()
      else this.#use(connection)
    } catch (error) {
      if (!signal.aborted) this.#failed(error, false)
    }
  }

  /** @param {import('./transport.js').Connection} connection */
  #use (connection) {
    const { stream } = connection
    /** @type {unknown} */
    let reason = new Error('the other side closed the connection')
    this.#connection = connection
    this.#upSinceMs = performance.now()
    stream.on('error', error => { reason = error })
    stream.on('data', chunk => { if (this.#connection === connection) this.#events.data(chunk) })
    stream.once('end', () => this.#lost(connection, reason))
    stream.once('close', (/** @type {unknown} */ error) => this.#lost(connection, error instanceof Error ? error : reason))
    if (stream.destroyed) this.#lost(connection, reason)
    else this.#events.up()
  }

  /** @param {import('./transport.js').Connection} connection @param {unknown} reason */
  #lost (connection, reason) {
    if (!this.#end(connection)) return
    if (this.#events.closed(reason)) this.#opening = this.#open()
    else this.#failed(reason, true)
  }

  /** @param {import('./transport.js').Connection} connection @returns {boolean} whether it was in use */
  #end (connection) {
    if (this.#connection !== connection) return false
    this.#connection = null
    connection.end().catch(() => {})
    if (performance.now() - this.#upSinceMs > this.#options.longestRetryMs) this.#attempts = 0 // it was idle, or rarely used
    return true
  }

  /** @param {unknown} error @param {boolean} wasUp */
  #failed (error, wasUp) {
    const { firstRetryMs, longestRetryMs, random } = this.#options
    const pauseMs = backoff(this.#attempts++, { first: firstRetryMs, max: longestRetryMs })
    this.#timer = setTimeout(() => { this.#opening = this.#open() }, pauseMs * (1 + random()) / 2)
    this.#events.down(error, wasUp)
  }
}
