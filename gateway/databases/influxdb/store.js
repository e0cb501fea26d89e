import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { AnswerError } from '../http.js'
import { TOO_LARGE } from './refused.js'

/** Larger requests gain nothing; the server accepts up to 25 MB, unless its configuration says less. */
const REQUEST_BYTES = 512 * 1024
const MIN_REQUEST_BYTES = 4096

/** How many requests of one write are under way: while the server reads one, the next is encoded. */
const REQUESTS_AT_ONCE = 2

/**
 * Stores lines by HTTP.
 * @template [Part=import('../../messages/codecs/line-protocol/line-protocol.js').Lines]
 */
export class HttpStore {
  notice = ''
  #server
  #encode
  #requestBytes = REQUEST_BYTES

  /**
   * @param {{write: import('./connection.js').InfluxdbServer['write']}} server
   * @param {(parts: Part[], options: {chunkBytes: number}) => Iterable<Buffer>} [encode]  to chunks of whole lines
   */
  constructor (server, encode = /** @type {any} */ (encodeLines)) {
    this.#server = server
    this.#encode = encode
  }

  /**
   * Resolves once all of them are stored. When it rejects, some may be.
   * @param {Part[]} parts
   * @param {import('./versions.js').Place} place
   * @param {AbortSignal} [signal]
   * @returns {Promise<void>}
   */
  async write (parts, place, signal) {
    const requestBytes = this.#requestBytes
    /** @type {Set<Promise<void>>} */
    const underWay = new Set()
    let tooMany = false
    try {
      for (const lines of this.#encode(parts, { chunkBytes: requestBytes })) {
        const request = this.#server.write(place, lines, signal)
        underWay.add(request)
        request.then(() => underWay.delete(request), error => { // it stays, to be awaited below
          // What is longer than a request is one line, which cannot be divided.
          if (isTooLarge(error) && lines.length <= requestBytes) tooMany = true
        })
        if (underWay.size >= REQUESTS_AT_ONCE) await Promise.race(underWay)
      }
      await Promise.all(underWay)
    } catch (error) {
      await Promise.allSettled(underWay)
      if (isTooLarge(error) && tooMany && this.#lower(requestBytes)) return this.write(parts, place, signal)
      throw error
    }
  }

  async close () {}

  /**
   * Makes requests smaller than those that were too large.
   * @param {number} refusedBytes
   * @returns {boolean} false when they are the smallest already
   */
  #lower (refusedBytes) {
    if (refusedBytes <= MIN_REQUEST_BYTES) return false
    this.#requestBytes = Math.min(this.#requestBytes, refusedBytes / 4)
    return true
  }
}

/** Whether a request was, for the server or what is in front of it. @param {any} error */
export function isTooLarge ({ cause }) {
  return cause instanceof AnswerError && cause.status === TOO_LARGE
}
