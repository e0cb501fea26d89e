import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { dialectOf } from './dialect.js'
import { fixFor, isConnectError, reasonOf, ServerError, serverError } from './errors.js'
import { compressor, post } from './post.js'
import { literal } from './quote.js'
import { schema } from './connection.schema.js'
import { cellsOf } from './tab-separated.js'

export { schema }

/**
 * @typedef
 *   {{host: string, port: number, database: string, user: string, password: string, tls: 'off'|'require'|'verify', ca: string, compression: 'none'|'gzip'|'zstd', connections: number}}
 *   ConnectionOptions
 * @typedef {import('./dialect.js').ClickhouseDialect} ClickhouseDialect
 * @typedef {Record<string, string|number>} Settings  of one query
 * @typedef {{signal?: AbortSignal}} Asking
 */

/** How long an insert or query may go without an answer; a sink then looks at what has become of it. */
const ANSWER_TIMEOUT_MS = 300_000
const TEST_TIMEOUT_MS = 12_000

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new ClickhouseServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)))
}

/** Connections to one server, made when needed and again after they are lost. */
export class ClickhouseServer {
  #options
  /** @type {{agent: HttpAgent, client: import('@clickhouse/client').ClickHouseClient}|null} */
  #connections = null
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
      const asked = { query: sql, format: /** @type {const} */ ('TabSeparated'), abort_signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal, query_id: queryId }
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
      if (!isOver && this.#connections) {
        stop.abort()
        rows?.destroy()
        this.command(`KILL QUERY WHERE query_id = ${literal(queryId)} ASYNC`).catch(() => {}) // it ends by itself when it next writes to nobody
      }
    }
  }

  /** @param {string} sql  of no result @param {Asking & {session?: string, settings?: Settings}} [asking] */
  async command (sql, { signal, session, settings } = {}) {
    await this.#attempt(({ client }) => client.command({ query: sql, abort_signal: signal, session_id: session, clickhouse_settings: /** @type {any} */ (settings) }), signal)
  }

  /**
   * Sends an INSERT with its data.
   * @param {string} sql  up to and with the format
   * @param {Buffer[]} data
   * @param {{queryId: string, settings?: Settings, session?: string, signal?: AbortSignal}} asking
   */
  async insert (sql, data, { queryId, settings, session, signal }) {
    const { plain } = await this.dialect(signal)
    return this.#attempt(async ({ agent }) => {
      const { host, port, database, user, password, tls, compression } = this.#options
      const { encoding, compress } = compressor(compression, plain)
      const head = Buffer.from(`${sql}\n`)
      const body = await compress([head, ...data])
      // As soon as the server has read the statement it lists the query: what it lists is what may still be stored.
      const asked = { ...settings, max_query_size: head.length }
      const { status, text } = await post({
        isSecure: tls !== 'off',
        host,
        port,
        path: `/?${new URLSearchParams({
          database, query_id: queryId, ...session && { session_id: session }, .../** @type {any} */ (asked)
        })}`,
        headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`, ...encoding && { 'content-encoding': encoding } },
        agent,
        body,
        timeoutMs: ANSWER_TIMEOUT_MS,
        signal
      })
      if (status !== 200 || /^Code: \d+/.test(text)) throw serverError(text || `HTTP status ${status}`)
    }, signal)
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    const limit = AbortSignal.timeout(TEST_TIMEOUT_MS)
    const asking = { signal: signal ? AbortSignal.any([signal, limit]) : limit }
    try {
      const { plain, version } = await this.dialect(asking.signal)
      const { user, database } = this.#options
      const age = plain ? ' It is an old server: whole seconds in the column time, and the exact time in time_ns.' : ''
      const rights = await this.#mayCreate(asking) ? '' : ' It may not create tables: make them beforehand, or grant CREATE TABLE.'
      return `ClickHouse ${version}, database "${database}", logged in as "${user}".${age}${rights}`
    } catch (error) {
      if (!limit.aborted || signal?.aborted) throw error
      throw new SluiceError('SLUICE_SINK_CONNECT', `${this.place} does not answer within ${TEST_TIMEOUT_MS / 1000} s.`, { cause: error, fix: 'Check host, port and the network.' })
    }
  }

  async close () {
    const connections = this.#connections
    this.#connections = null
    await connections?.client.close()
    connections?.agent.destroy()
  }

  /** @param {AbortSignal} [signal] */
  async #askDialect (signal) {
    const [[version, strict]] = await this.query('SELECT version(), (SELECT count() FROM system.settings WHERE name = \'input_format_native_allow_types_conversion\')', { signal })
    return dialectOf(version, Number(strict) > 0)
  }

  /** Servers that cannot tell may. @param {Asking} asking */
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
   * @param {(connections: {agent: HttpAgent, client: import('@clickhouse/client').ClickHouseClient}) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    signal?.throwIfAborted()
    try {
      this.#connections ??= this.#open()
      return await work(this.#connections)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      const cause = error instanceof ServerError ? error : fromClient(error)
      if (isConnectError(cause)) this.#dialect = null // the next one to answer may be another server
      throw this.#failure(cause)
    }
  }

  /** @param {unknown} cause */
  #failure (cause) {
    const { database } = this.#options
    return isConnectError(cause)
      ? new SluiceError('SLUICE_SINK_CONNECT', `No connection to ${this.place}, database "${database}": ${reasonOf(cause)}.`, { cause, fix: fixFor(cause) })
      : new SluiceError('SLUICE_SINK_CLICKHOUSE', `${this.place}: ${reasonOf(cause)}.`, { cause, fix: fixFor(cause) })
  }

  #open () {
    const { host, port, database, user, password, tls, ca, connections } = this.#options
    const limits = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections, scheduling: /** @type {const} */ ('lifo') }
    const agent = tls === 'off'
      ? new HttpAgent(limits)
      : new HttpsAgent({ ...limits, ...tls === 'require' ? { rejectUnauthorized: false } : { rejectUnauthorized: true, ca: certificate(ca) } })
    const client = createClient({
      url: `${tls === 'off' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      username: user,
      password,
      database,
      application: 'sluice',
      request_timeout: ANSWER_TIMEOUT_MS,
      http_agent: agent,
      // The client would end sockets that it finds idle, of which an insert may just have taken one; the agent knows better.
      keep_alive: { enabled: true, idle_socket_ttl: 0 },
      log: { level: ClickHouseLogLevel.OFF }
    })
    return { agent, client }
  }
}

/** What the client throws. It keeps the number of an error of newer servers only, and leaves others as text. @param {unknown} error */
function fromClient (error) {
  const { code, message, type } = /** @type {{code?: string, message?: string, type?: string}} */ (error)
  if (type !== undefined && code !== undefined) return serverError(`Code: ${code}. DB::Exception: ${message} (${type})`)
  return message?.includes('Exception') ? serverError(message) : error
}

/** @param {string} ca  PEM text, a path, or empty */
function certificate (ca) {
  if (ca === '') return undefined
  return ca.includes('-----BEGIN') ? ca : readFileSync(ca, 'utf8')
}
