import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'

const compress = promisify(gzip)

/** A server that says nothing for so long is taken for gone. It may take 10 s over a write before it gives up itself. */
const SILENCE_MS = 60_000

/**
 * @typedef {object} HttpOptions
 * @property {string} host
 * @property {number} port
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {number} connections
 * @property {'remote'|'always'|'never'} compression
 *
 * @typedef {object} Request
 * @property {'GET'|'POST'} [method]
 * @property {string} path  with its query
 * @property {Record<string, string>} [headers]
 * @property {Buffer|string} [body]
 * @property {boolean} [compressible]
 * @property {AbortSignal} [signal]
 */

/** What the server has answered instead of success. */
export class AnswerError extends Error {
  /** @param {number} status @param {string} text  the answer's body */
  constructor (status, text) {
    super(messageIn(text) || http.STATUS_CODES[status] || 'no reason given')
    this.status = status
    this.text = text
  }
}

/** HTTP to one server, over connections that are kept. */
export class HttpClient {
  #options
  #module
  #agent
  #compresses
  #isClosed = false

  /** @param {HttpOptions} options */
  constructor (options) {
    const { tls, ca, connections, compression, host } = options
    this.#options = options
    this.#module = tls === 'off' ? http : https
    const security = tls === 'off' ? {} : tls === 'require' ? { rejectUnauthorized: false } : { ca: certificate(ca) }
    this.#agent = new this.#module.Agent({ keepAlive: true, maxSockets: connections, ...security })
    this.#compresses = compression === 'always' || (compression === 'remote' && !isLocal(host))
  }

  /** What another client needs to reach the same server. @returns {https.RequestOptions} */
  get connection () { return { agent: this.#agent } }

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
   * The answer as it comes; it must be read to its end or destroyed.
   * @param {Request} request
   * @returns {Promise<http.IncomingMessage>}
   */
  async open ({ body = '', compressible = false, ...request }) {
    const isSmall = compressible && this.#compresses
    const sent = isSmall ? await compress(body, { level: constants.Z_BEST_SPEED }) : body
    /** @type {Record<string, string>} */
    const headers = { ...request.headers, 'content-length': String(Buffer.byteLength(sent)) }
    if (isSmall) headers['content-encoding'] = 'gzip'
    const options = { ...request, headers }
    try {
      return await this.#send(options, sent)
    } catch (error) {
      // A connection that was kept may have been ended by the server just now. To ask again is harmless: all that is written may be written
      // again.
      if (this.#isClosed || !(/** @type {any} */ (error).isStale)) throw error
      return this.#send(options, sent)
    }
  }

  /** Ends what is under way. */
  close () {
    this.#isClosed = true
    this.#agent.destroy()
  }

  /** @param {Omit<Request, 'body'>} options @param {Buffer|string} body @returns {Promise<http.IncomingMessage>} */
  #send ({ method = 'POST', path, headers, signal }, body) {
    const { host, port } = this.#options
    return new Promise((resolve, reject) => {
      const request = this.#module.request({ host, port, method, path, headers, signal, agent: this.#agent, timeout: SILENCE_MS }, response => {
        const { statusCode: status = 0 } = response
        if (status >= 200 && status < 300) return resolve(response)
        textOf(response).then(text => reject(new AnswerError(status, text)), reject)
      })
      request.on('timeout', () => request.destroy(Object.assign(new Error(`no answer within ${SILENCE_MS / 1000} s`), { code: 'ETIMEDOUT' })))
      request.on('error', error => reject(Object.assign(error, { isStale: request.reusedSocket && /** @type {any} */ (error).code === 'ECONNRESET' })))
      request.end(body)
    })
  }
}

/** @param {http.IncomingMessage} response */
async function textOf (response) {
  return Buffer.concat(await response.toArray()).toString()
}

/** Servers put it into JSON, by one of two names; version 3 says of each line what is wrong with it. @param {string} text */
function messageIn (text) {
  try {
    const { error, message, data } = JSON.parse(text)
    const first = data?.[0]?.error_message
    return `${message ?? error ?? text}${first ? `: ${first}` : ''}`
  } catch {
    return text.trim()
  }
}

/** @param {string} host */
function isLocal (host) {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** @param {string} ca  PEM text, a path, or empty */
function certificate (ca) {
  if (ca === '') return undefined
  return ca.includes('-----BEGIN') ? ca : readFileSync(ca, 'utf8')
}
