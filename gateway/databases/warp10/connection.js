import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { connectError, passwordMissing, reasonOf } from '../connecting/failure.js'
import { testInTime } from '../connecting/limits.js'
import { isLocal, plainTextAdvice } from '../connecting/tls.js'
import { AnswerError, compressed, HttpClient } from '../http.js'
import { COMMITS_TABLE } from '../names.js'
import { schema } from './connection.schema.js'
import { pointReader } from './points.js'
import { exactly } from './selector.js'

export { schema }

/**
 * @typedef {object} Warp10Options
 * @property {string} host
 * @property {number} port
 * @property {string} writeToken
 * @property {string} readToken
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {'remote'|'always'|'never'} compression
 * @property {number} connections
 *
 * @typedef {{selector: string, from?: bigint, to?: bigint, count?: number, signal?: AbortSignal}} Wanted  from a tick to a tick, both
 *   included; `count`: the newest ones of each series
 */

const SILENCE_MS = 60_000

/** Its ticks are 64-bit integers. */
export const FIRST_TICK = -(2n ** 63n)
export const LAST_TICK = 2n ** 63n - 1n

const SECOND_NS = 1_000_000_000n

/** What begins a line that says why the answer ends there. */
const FAILED = '# ERROR: '

/** @type {Record<string, string>} */
const UNITS = { 1: 'ns', 1000: 'us', 1000000: 'ms' }

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new Warp10Server(/** @type {any} */ (withDefaults(schema, options)))
}

/** One server, by HTTP. Each error says which server, and what to do. */
export class Warp10Server {
  #options
  /** @type {HttpClient|null} */
  #client = null

  /** @param {Warp10Options} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `Warp 10 at ${this.#options.host}:${this.#options.port}` }

  /**
   * Stores lines. When it rejects, some of them may be stored.
   * @param {Buffer|string} lines
   * @param {AbortSignal} [signal]
   */
  async write (lines, signal) {
    const { compression, host } = this.#options
    const isCompressed = compression === 'always' || (compression === 'remote' && !isLocal(host))
    await this.#ask('write', {
      path: '/api/v0/update',
      headers: { 'content-type': isCompressed ? 'application/gzip' : 'text/plain; charset=utf-8' },
      body: [isCompressed ? await compressed([lines], 'gzip') : lines],
      signal
    })
  }

  /**
   * Points as they arrive, series by series, in each the newest first.
   * @param {Wanted} wanted
   * @returns {AsyncGenerator<import('./points.js').Point, void, void>}
   */
  async * points ({ selector, from = FIRST_TICK, to = LAST_TICK, count, signal }) {
    const asked = { selector, start: String(from), stop: String(to), format: 'text', showerrors: 'true' }
    const query = new URLSearchParams(count === undefined ? asked : { ...asked, count: String(count) })
    const response = await this.#open('read', { method: 'GET', path: `/api/v0/fetch?${query}`, signal })
    const pointIn = pointReader(unitOf(response.headers))
    try {
      let text = ''
      for await (const piece of response.setEncoding('utf8')) {
        const lines = (text + piece).split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          if (line.startsWith(FAILED)) throw new AnswerError(500, line.slice(FAILED.length))
          if (line !== '') yield pointIn(line)
        }
      }
      if (text !== '') throw new Error('the answer ends in the middle of a line')
    } catch (error) {
      throw signal?.aborted ? signal.reason : this.#explain('read', error)
    } finally {
      response.destroy()
    }
  }

  /** The heads of series, `CLASS{LABELS}`. @param {string} selector @param {AbortSignal} [signal] */
  async heads (selector, signal) {
    const { text } = await this.#ask('read', { method: 'GET', path: `/api/v0/find?${new URLSearchParams({ selector })}`, signal })
    return text.split('\n').map(line => line.trim()).filter(line => line !== '')
  }

  /** Removes points from a tick to a tick, both included. @param {string} selector @param {bigint} from @param {bigint} to */
  async remove (selector, from, to) {
    const query = new URLSearchParams({ selector, start: String(from), end: String(to) })
    await this.#ask('write', { method: 'GET', path: `/api/v0/delete?${query}` })
  }

  /** How long a tick is, and the server's clock. @param {AbortSignal} [signal] */
  async facts (signal) {
    const query = new URLSearchParams({ selector: exactly(COMMITS_TABLE, {}), start: '0', stop: '0', format: 'text' })
    const { headers } = await this.#ask('read', { method: 'GET', path: `/api/v0/fetch?${query}`, signal })
    return { unitNs: unitOf(headers), timeMs: Date.parse(headers.date ?? '') }
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, async ends => {
      const { unitNs } = await this.facts(ends)
      await this.write('# test\n', ends)
      const { text } = await this.#ask(null, { path: '/api/v0/exec', body: ['REV'], signal: ends }).catch(() => ({ text: '' }))
      const version = /^\["(\d[\w.-]*)/.exec(text)?.[1] ?? 'of unknown version'
      const beyond = unitNs === 1n ? '' : '; what they have beyond that is kept in the label ns'
      return [
        `Warp 10 ${version}, which takes both tokens. Its times have the unit ${UNITS[String(unitNs)] ?? `${unitNs} ns`}${beyond}.`,
        plainTextAdvice(this.#options)
      ].filter(sentence => sentence !== '').join(' ')
    })
  }

  async close () {
    this.#client?.close()
    this.#client = null
  }

  /** @param {'read'|'write'|null} right  whose token goes with it @param {import('../http.js').Request} request */
  async #ask (right, request) {
    const response = await this.#open(right, request)
    try {
      return { headers: response.headers, text: Buffer.concat(await response.toArray()).toString() }
    } catch (error) {
      throw request.signal?.aborted ? request.signal.reason : this.#explain(right, error)
    }
  }

  /** @param {'read'|'write'|null} right @param {import('../http.js').Request} request */
  async #open (right, request) {
    request.signal?.throwIfAborted()
    this.#client ??= new HttpClient({
      ...this.#options,
      authorization: '',
      silenceMs: SILENCE_MS,
      repeats: true, // all that is written may be written again
      reasonIn
    })
    try {
      const token = right && { 'x-warp10-token': this.#options[`${right}Token`] }
      return await this.#client.open({ ...request, headers: { ...request.headers, ...token } })
    } catch (error) {
      throw request.signal?.aborted ? request.signal.reason : this.#explain(right, error)
    }
  }

  /** @param {'read'|'write'|null} right @param {unknown} error */
  #explain (right, error) {
    if (!(error instanceof AnswerError)) return connectError(this.place, error)
    const isToken = right !== null && /token|OPB64/i.test(error.message) // that is how tokens are written
    if (isToken && this.#options[`${right}Token`] === '') {
      return passwordMissing(error, this.place, { user: '', what: `${right} token` })
    }
    return new SluiceError(isToken ? 'SLUICE_SINK_CONNECT' : 'SLUICE_SINK_WARP10', `${this.place}: ${reasonOf(error)}.`, {
      cause: error, fix: isToken ? `Check the ${right} token.` : undefined
    })
  }
}

/** @param {import('node:http').IncomingHttpHeaders} headers  of an answer to a reading; they say how many ticks a second has */
function unitOf (headers) {
  const ticks = headers['x-warp10-timeunit']
  if (ticks === undefined) throw new Error('the answer has no header X-Warp10-Timeunit: it is not one of Warp 10')
  return SECOND_NS / BigInt(String(ticks))
}

/** The server answers with a page. @param {string} text */
function reasonIn (text) {
  const [, reason = text] = /<th>MESSAGE:<\/th><td>([^]*?)<\/td>/.exec(text) ?? []
  const letters = { lt: '<', gt: '>', quot: '"', apos: '\'', amp: '&' }
  return reason.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => letters[/** @type {keyof typeof letters} */ (name)]).trim()
}
