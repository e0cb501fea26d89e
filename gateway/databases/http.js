import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { noHandshake, silence } from './connecting/failure.js'
import { CONNECT_TIMEOUT_MS } from './connecting/limits.js'
import { tlsOptions } from './connecting/tls.js'

/**
 * @typedef {object} HttpOptions
 * @property {string} host
 * @property {number} port
 * @property {string} tls
 * @property {string} ca
 * @property {number} connections  at a time, at most
 * @property {string} authorization  header of every request; empty for none
 * @property {number} silenceMs  a server that sends nothing for so long is gone
 * @property {boolean} [repeats]  whether a request is sent again when its connection, kept from an earlier one, turns out to have been
 *   closed: only where it is harmless that the server gets a request twice
 * @property {(text: string) => string} [reasonIn]  the reason in the body of a refusal
 *
 * @typedef {object} Request
 * @property {'GET'|'POST'|'PUT'|'DELETE'} [method]
 * @property {string} path  with its query
 * @property {Record<string, string>} [headers]
 * @property {Body} [body]
 * @property {'gzip'|'zstd'} [encoding]  compresses the body
 * @property {AbortSignal} [signal]
 *
 * @typedef {(Buffer|string)[]|Iterable<Buffer>} Body  what is no array is made while it is sent, in chunks, and again where it is repeated
 * @typedef {{method: string, path: string, headers: Record<string, string|number>, body: Body, signal?: AbortSignal}} Sent
 */

/** Node has zstd from 22.15. */
const zstdCompress = /** @type {typeof zlib.zstdCompress|undefined} */ (zlib.zstdCompress)
const zstd = zstdCompress && promisify(zstdCompress)
const gzip = promisify(zlib.gzip)

export const HAS_ZSTD = zstd !== undefined

/** A server's answer instead of success. */
export class AnswerError extends Error {
  /** @param {number} status @param {string} text  the answer's body @param {string} [reason]  in that */
  constructor (status, text, reason = text.trim()) {
    super(reason || http.STATUS_CODES[status] || 'no reason given')
    this.status = status
    this.text = text
  }
}

/** HTTP to one server, over connections that are kept. */
export class HttpClient {
  #options
  #module
  #isClosed = false

  /** @param {HttpOptions} options */
  constructor (options) {
    const { tls, connections } = options
    this.#options = options
    this.#module = tls === 'off' ? http : https
    /** For other clients of the same server. */
    this.agent = new this.#module.Agent({ keepAlive: true, maxSockets: connections, ...tlsOptions(options) })
    connectInTime(this.agent, tls === 'off' ? 'connect' : 'secureConnect')
  }

  /**
   * @param {Request} request
   * @returns {Promise<{headers: http.IncomingHttpHeaders, text: string}>}
   * @throws {AnswerError|Error} the latter where there is no answer
   */
  async ask (request) {
    const response = await this.open(request)
    return { headers: response.headers, text: await textOf(response) }
  }

  /**
   * The answer as it arrives; it must be read to its end or destroyed.
   * @param {Request} request
   * @returns {Promise<http.IncomingMessage>}
   */
  async open ({ method = 'POST', path, headers, body = [], encoding, signal }) {
    const { authorization, repeats } = this.#options
    const parts = encoding ? [await compressed([...body], encoding)] : body
    const sent = {
      method,
      path,
      headers: {
        ...headers,
        ...authorization && { authorization },
        ...encoding && { 'content-encoding': encoding },
        ...Array.isArray(parts) && { 'content-length': parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0) }
      },
      body: parts,
      signal
    }
    try {
      return await this.#send(sent)
    } catch (error) {
      if (!repeats || this.#isClosed || !(/** @type {any} */ (error).isStale)) throw error
      return this.#send(sent)
    }
  }

  /** Ends what is under way. */
  close () {
    this.#isClosed = true
    this.agent.destroy()
  }

  /** @param {Sent} sent @returns {Promise<http.IncomingMessage>} */
  #send ({ body, ...more }) {
    const { host, port, silenceMs, reasonIn } = this.#options
    return new Promise((resolve, reject) => {
      const request = this.#module.request({ host, port, agent: this.agent, timeout: silenceMs, ...more }, response => {
        const { statusCode: status = 0 } = response
        if (status >= 200 && status < 300) return resolve(response)
        textOf(response).then(text => reject(new AnswerError(status, text, reasonIn?.(text))), reject)
      })
      request.on('timeout', () => request.destroy(silence(silenceMs)))
      request.on('error', error => {
        const isStale = request.reusedSocket && /** @type {any} */ (error).code === 'ECONNRESET'
        reject(Object.assign(error, { isStale }))
      })
      if (Array.isArray(body)) request.cork()
      sendBody(request, body).catch(error => request.destroy(error))
    })
  }
}

/** @param {http.ClientRequest} request @param {Body} body */
async function sendBody (request, body) {
  const isWhole = Array.isArray(body)
  for (const part of body) if (!request.write(part) && !isWhole) await once(request, 'drain')
  request.end()
}

/**
 * Ends connections that are not there in time, long before an answer would be late: of a TLS handshake that it does not expect, a server
 * may wait for the end of the line.
 * @param {http.Agent} agent @param {'connect'|'secureConnect'} event  with which a connection is there
 */
function connectInTime (agent, event) {
  const create = agent.createConnection
  agent.createConnection = (options, callback) => {
    const socket = /** @type {import('node:net').Socket} */ (create.call(agent, options, callback))
    const end = () => socket.destroy((socket.connecting ? silence : noHandshake)(CONNECT_TIMEOUT_MS))
    const timer = setTimeout(end, CONNECT_TIMEOUT_MS)
    for (const name of [event, 'close']) socket.once(name, () => clearTimeout(timer))
    // Those that are idle are most likely as lost as one that has no answer, and each would be waited for as long.
    socket.on('timeout', () => { for (const idle of Object.values(agent.freeSockets).flat()) idle?.destroy() })
    return socket
  }
}

/** Of HTTP basic authentication. @param {string} user @param {string} password */
export function basicLogin (user, password) {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** As fast as possible. @param {(Buffer|string)[]} body @param {'gzip'|'zstd'} encoding */
export async function compressed (body, encoding) {
  const bytes = Buffer.concat(body.map(part => typeof part === 'string' ? Buffer.from(part) : part))
  if (encoding === 'zstd' && zstd) return zstd(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } })
  return gzip(bytes, { level: zlib.constants.Z_BEST_SPEED })
}

/** @param {http.IncomingMessage} response */
async function textOf (response) {
  return Buffer.concat(await response.toArray()).toString()
}
