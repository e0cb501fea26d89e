import { randomBytes } from 'node:crypto'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { connectError, fixFor, orPasswordMissing, reasonOf } from '../connecting/failure.js'
import { ANSWER_TIMEOUT_MS, testInTime } from '../connecting/limits.js'
import { AnswerError, basicLogin, HAS_ZSTD, HttpClient } from '../http.js'
import { schema } from './connection.schema.js'
import { dialectOf } from './dialect.js'
import { FIXES, isConnectError, NO_PASSWORD, ServerError, serverError } from './errors.js'
import { literal } from './quote.js'
import { cellsOf } from './tab-separated.js'

export { schema }

/**
 * @typedef {object} ConnectionOptions
 * @property {string} host
 * @property {number} port
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {'none'|'gzip'|'zstd'} compression
 * @property {number} connections
 *
 * @typedef {import('./dialect.js').ClickhouseDialect} ClickhouseDialect
 * @typedef {Record<string, string|number>} Settings  of one query
 * @typedef {{signal?: AbortSignal}} Asking
 * @typedef {{http: HttpClient, client: import('@clickhouse/client').ClickHouseClient}} Clients  on the same connections
 */

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new ClickhouseServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)))
}

/** Connections to one server, opened when needed, and again after they are lost. */
export class ClickhouseServer {
  #options
  /** @type {Clients|null} */
  #clients = null
  /** @type {ClickhouseDialect|null} */
  #dialect = null

  /** @param {ConnectionOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `ClickHouse at ${this.#options.host}:${this.#options.port}` }

  get database () { return this.#options.database }

  /**
   * What the server is: asked once, and again after its connections have failed.
   * @param {AbortSignal} [signal]
   * @returns {Promise<ClickhouseDialect>}
   */
  async dialect (signal) {
    this.#dialect ??= await this.#askDialect(signal)
    return this.#dialect
  }

  /**
   * The rows of a query, each cell as text, or null.
   * @param {string} sql
   * @param {Asking} [asking]
   * @returns {Promise<any[][]>}
   * @throws {SluiceError} SLUICE_SINK_CONNECT, SLUICE_SINK_CLICKHOUSE
   */
  async query (sql, asking) {
    const rows = []
    for await (const some of this.stream(sql, asking)) rows.push(...some)
    return rows
  }

  /**
   * The same, some at a time, as they are asked for. Left early, the query ends at the server, too.
   * @param {string} sql
   * @param {Asking} [asking]
   * @returns {AsyncGenerator<any[][], void, void>}
   */
  async * stream (sql, { signal } = {}) {
    const queryId = `sluice-query-${randomBytes(8).toString('hex')}`
    const stop = new AbortController()
    /** @type {import('node:stream').Readable|undefined} */
    let rows
    let isOver = false
    try {
      const abort_signal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
      const asked = { query: sql, format: /** @type {const} */ ('TabSeparated'), abort_signal, query_id: queryId }
      const found = await this.#attempt(({ client }) => client.query(asked), signal)
      rows = /** @type {import('node:stream').Readable} */ (found.stream())
      const pieces = rows[Symbol.asyncIterator]()
      for (;;) {
        const { done, value } = await this.#attempt(() => pieces.next(), signal)
        if (done) break
        yield value.map((/** @type {{text: string}} */ { text }) => cellsOf(text))
      }
      isOver = true
    } catch (error) {
      isOver = !signal?.aborted
      throw error
    } finally {
      if (!isOver && this.#clients) {
        stop.abort()
        rows?.destroy()
        // Where this fails, the query ends by itself when it next writes to the closed connection.
        this.command(`KILL QUERY WHERE query_id = ${literal(queryId)} ASYNC`).catch(() => {})
      }
    }
  }

  /** @param {string} sql  of no result @param {Asking & {session?: string, settings?: Settings}} [asking] */
  async command (sql, { signal, session, settings } = {}) {
    const asked = { query: sql, abort_signal: signal, session_id: session, clickhouse_settings: /** @type {any} */ (settings) }
    await this.#attempt(({ client }) => client.command(asked), signal)
  }

  /**
   * Sends an INSERT with its data.
   * @param {string} sql  up to and with the format
   * @param {Buffer[]} data
   * @param {{queryId: string, settings?: Settings, session?: string, signal?: AbortSignal}} asking
   */
  async insert (sql, data, { queryId, settings, session, signal }) {
    const { plain } = await this.dialect(signal)
    const { database, compression } = this.#options
    const head = Buffer.from(`${sql}\n`)
    const parameters = new URLSearchParams(/** @type {any} */ ({
      database,
      query_id: queryId,
      ...session && { session_id: session },
      ...settings,
      // As soon as the server has read the statement it lists the query: what it lists is what may still be stored.
      max_query_size: head.length
    }))
    const encoding = compression === 'none' ? undefined : plain || !HAS_ZSTD ? 'gzip' : compression
    return this.#attempt(async ({ http }) => {
      const { text } = await http.ask({ path: `/?${parameters}`, body: [head, ...data], encoding, signal })
      if (/^Code: \d+/.test(text)) throw serverError(text)
    }, signal)
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, async ends => {
      const { plain, version } = await this.dialect(ends)
      const { user, database } = this.#options
      const age = plain ? ' It is an old server: whole seconds in the column time, and the exact time in time_ns.' : ''
      const mayCreate = await this.#mayCreate({ signal: ends })
      const rights = mayCreate ? '' : ' It may not create tables: create them beforehand, or grant CREATE TABLE.'
      return `ClickHouse ${version}, database "${database}", logged in as "${user}".${age}${rights}`
    })
  }

  async close () {
    const clients = this.#clients
    this.#clients = null
    await clients?.client.close()
    clients?.http.close()
  }

  /** @param {AbortSignal} [signal] */
  async #askDialect (signal) {
    const [[version, strict]] = await this.query(
      'SELECT version(), (SELECT count() FROM system.settings WHERE name = \'input_format_native_allow_types_conversion\')', { signal }
    )
    return dialectOf(version, Number(strict) > 0)
  }

  /** True for servers that cannot tell. @param {Asking} asking */
  async #mayCreate (asking) {
    try {
      const [[readonly]] = await this.query('SELECT value FROM system.settings WHERE name = \'readonly\'', asking)
      if (readonly !== '0') return false
      const [[may]] = await this.query('CHECK GRANT CREATE TABLE ON *', asking)
      return may === '1'
    } catch {
      return true
    }
  }

  /**
   * @template T
   * @param {(clients: Clients) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    signal?.throwIfAborted()
    try {
      this.#clients ??= this.#open()
      return await work(this.#clients)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      const cause = causeOf(error)
      if (isConnectError(cause)) this.#dialect = null // the next one to answer may be another server
      throw this.#failure(cause)
    }
  }

  /** @param {unknown} error */
  #failure (error) {
    const cause = orPasswordMissing(error, this.place, this.#options, NO_PASSWORD)
    if (cause instanceof SluiceError) return cause
    if (isConnectError(cause)) return connectError(`${this.place}, database "${this.database}"`, cause, FIXES)
    return new SluiceError('SLUICE_SINK_CLICKHOUSE', `${this.place}: ${reasonOf(cause)}.`, { cause, fix: fixFor(cause, FIXES) })
  }

  /** @returns {Clients} */
  #open () {
    const { host, port, database, user, password, tls } = this.#options
    const http = new HttpClient({ ...this.#options, authorization: basicLogin(user, password), silenceMs: ANSWER_TIMEOUT_MS })
    const client = createClient({
      url: `${tls === 'off' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      username: user,
      password,
      database,
      application: 'sluice',
      request_timeout: ANSWER_TIMEOUT_MS,
      http_agent: http.agent,
      // The client would end sockets that it finds idle, of which an insert may just have taken one; the agent knows better.
      keep_alive: { enabled: true, idle_socket_ttl: 0 },
      log: { level: ClickHouseLogLevel.OFF }
    })
    return { http, client }
  }
}

/**
 * The server's own error, where it has answered. The client keeps the number of newer servers' errors only, and leaves others as text.
 * @param {unknown} error
 */
function causeOf (error) {
  if (error instanceof ServerError) return error
  if (error instanceof AnswerError) return serverError(error.text || `HTTP status ${error.status}`)
  const { code, message, type } = /** @type {{code?: string, message?: string, type?: string}} */ (error)
  if (type !== undefined && code !== undefined) return serverError(`Code: ${code}. DB::Exception: ${message} (${type})`)
  return message?.includes('Exception') ? serverError(message) : error
}
