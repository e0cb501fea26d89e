import { InfluxDB } from 'influx'
import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { connectError, fixFor, passwordMissing, reasonOf } from '../connecting/failure.js'
import { testInTime } from '../connecting/limits.js'
import { isLocal } from '../connecting/tls.js'
import { AnswerError, HttpClient } from '../http.js'
import { parseAnswer, quoteName } from './influxql.js'
import { schema } from './connection.schema.js'
import { VERSIONS } from './versions.js'

export { schema }

/**
 * @typedef {object} InfluxdbOptions
 * @property {'1'|'2'|'3'} version
 * @property {string} host
 * @property {number} port
 * @property {string} database
 * @property {string} organisation
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {'remote'|'always'|'never'} compression
 * @property {number} connections
 * @property {number} udpPort
 *
 * @typedef {{name: string, isDefault: boolean, keptNs: bigint}} Policy  `keptNs` is 0 where it keeps for ever
 */

/** The server may take 10 s over a write before it gives up itself. */
const SILENCE_MS = 60_000

/** Answers that an administrator must act on. @type {import('../connecting/failure.js').Fixes} */
const ANSWER_FIXES = [
  [
    /max-values-per-tag|max-series-per-database|max series/i,
    'A tag has more values than the server allows: send it as a field, or raise the server\'s limit.'
  ],
  [
    /no space left on device/i,
    'Make room on the server\'s disk, and start InfluxDB again: version 1 does not continue by itself.'
  ],
  [/HTTP request to an HTTPS server/i, 'The server has TLS at this port: switch it on.']
]

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new InfluxdbServer(/** @type {InfluxdbOptions} */ (withDefaults(schema, options)))
}

/** One server and database, by HTTP. Each error says which server, and what to do. */
export class InfluxdbServer {
  #version
  /** @type {HttpClient|null} */
  #client = null

  /** @param {InfluxdbOptions} options */
  constructor (options) {
    this.options = options
    this.#version = VERSIONS[options.version]
  }

  /** For messages. */
  get place () { return `InfluxDB at ${this.options.host}:${this.options.port}` }

  /**
   * Writes lines, which the server has on its disk when this resolves.
   * @param {Pick<import('./versions.js').Place, 'database'|'policy'>} place
   * @param {Buffer|string} lines
   * @param {AbortSignal} [signal]
   */
  async write (place, lines, signal) {
    await this.#ask({
      path: this.#version.writePath(place, this.options),
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: [lines],
      encoding: this.#compresses ? 'gzip' : undefined,
      signal
    })
  }

  /**
   * @param {string} statement  InfluxQL
   * @param {{database?: string, signal?: AbortSignal}} [options]
   * @returns {Promise<import('./influxql.js').Series[]>}
   */
  async query (statement, { database, signal } = {}) {
    const { text } = await this.#ask(this.#queryRequest(statement, { database, signal }))
    return this.series(text)
  }

  /**
   * The answer as it arrives, one object per line.
   * @param {string} statement  InfluxQL
   * @param {{rows: number, signal?: AbortSignal}} options  `rows` of an object, at most
   */
  async queryChunks (statement, { rows, signal }) {
    const request = this.#queryRequest(statement, { signal, chunked: 'true', chunk_size: String(rows) })
    return this.#explained(signal, () => this.#http.open(request))
  }

  /** The series in an answer, or in one object of it. @param {string} text @throws {SluiceError} where it is an error */
  series (text) {
    const { series, error } = parseAnswer(text)
    if (error) throw this.#explain(new AnswerError(200, error))
    return series
  }

  /** @param {string} path @returns {Promise<any>} */
  async get (path) {
    const { text } = await this.#ask({ method: 'GET', path })
    return JSON.parse(text)
  }

  /** @param {string} path @param {object} body */
  async post (path, body) {
    await this.#ask({ path, body: [JSON.stringify(body)], headers: { 'content-type': 'application/json' } })
  }

  /** Where rows and commit records go. @param {string} policy  of version 1; empty for the database's own */
  places (policy) {
    return this.#version.places(this, policy)
  }

  /** @param {import('./versions.js').Place} records @param {string} key @param {number} first @param {number} last */
  forget (records, key, first, last) {
    return this.#version.forget(this, records, key, first, last)
  }

  /** @param {import('./versions.js').Place} rows @param {import('./versions.js').Expired} expired */
  expire (rows, expired) {
    return this.#version.expire(this, rows, expired)
  }

  /** The retention policies of the database, which is created where it is missing. Version 1. @returns {Promise<Policy[]>} */
  async policies () {
    const { database } = this.options
    const statement = `SHOW RETENTION POLICIES ON ${quoteName(database)}`
    let series
    try {
      series = await this.query(statement)
    } catch (error) {
      if (!isMissingDatabase(error)) throw error
      await this.#administer(`create the database "${database}"`, influx => influx.createDatabase(database))
      series = await this.query(statement)
    }
    return rowsOf(series).map(({ name, duration, default: isDefault }) => ({ name, isDefault, keptNs: durationNs(duration) }))
  }

  /** One that keeps for ever. Version 1. @param {string} name */
  async createPolicy (name) {
    const { database } = this.options
    await this.#administer(
      `create the retention policy "${name}" without end, which commit records need to outlive the rows`,
      influx => influx.createRetentionPolicy(name, { database, duration: 'INF', replication: 1 })
    )
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, ends => this.#tell(ends))
  }

  /** What answers, and its time as HTTP tells it. @param {AbortSignal} [signal] */
  async ping (signal) {
    const { headers, text } = await this.#ask({ method: 'GET', path: '/ping', signal })
    const reported = headers['x-influxdb-version'] ?? /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'of unknown version'
    return { found: String(reported).replace(/~.*/, ''), date: headers.date ?? '' }
  }

  /** What is there, in a sentence. @param {AbortSignal} signal @returns {Promise<string>} */
  async #tell (signal) {
    const { version, database, user } = this.options
    const { found } = await this.ping(signal)
    const major = /\d/.exec(found)?.[0]
    if (major && major !== version) {
      throw new SluiceError('SLUICE_SINK_CONNECT', `${this.place} is InfluxDB ${found}, not version ${version}.`, {
        fix: `Set version ${major}.`
      })
    }
    if (version === '1') {
      const names = await this.#administer('show its databases', influx => influx.getDatabaseNames())
      const rights = names.includes(database) ? '' : ' It does not exist, or this user may not see it: the sink will try to create it.'
      return `InfluxDB ${found}, database "${database}"${user ? `, logged in as "${user}"` : ''}.${rights}`
    }
    const { rows } = await this.places('')
    return `InfluxDB ${found}, ${version === '2' ? 'bucket' : 'database'} "${rows.database}".`
  }

  async close () {
    this.#client?.close()
    this.#client = null
  }

  get #http () {
    this.#client ??= new HttpClient({
      ...this.options,
      authorization: this.#version.authorization(this.options),
      silenceMs: SILENCE_MS,
      repeats: true, // all that is written may be written again
      reasonIn
    })
    return this.#client
  }

  get #compresses () {
    const { compression, host } = this.options
    return compression === 'always' || (compression === 'remote' && !isLocal(host))
  }

  /**
   * Work for the library's client, of version 1.
   * @template T
   * @param {string} what
   * @param {(influx: InfluxDB) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #administer (what, work) {
    const { host, port, tls, database, user, password } = this.options
    try {
      return await work(new InfluxDB({
        host,
        port,
        database,
        username: user,
        password,
        protocol: tls === 'off' ? 'http' : 'https',
        options: { agent: this.#http.agent },
        pool: { maxRetries: 0, requestTimeout: SILENCE_MS }
      }))
    } catch (error) {
      const answer = answerIn(error)
      if (!(answer instanceof AnswerError) || answer.status !== 403) throw this.#explain(answer)
      throw new SluiceError('SLUICE_SINK_CONNECT', `${this.place}: the user "${user}" may not ${what}: ${reasonOf(answer)}.`, {
        cause: answer, fix: 'Do that as an administrator, or grant the right.'
      })
    }
  }

  /**
   * @param {string} statement
   * @param {{database?: string, signal?: AbortSignal} & Record<string, any>} options
   * @returns {import('../http.js').Request}
   */
  #queryRequest (statement, { database = this.options.database, signal, ...parameters }) {
    return {
      path: `/query?${new URLSearchParams({ db: database, epoch: 'ns', ...parameters })}`,
      body: [String(new URLSearchParams({ q: statement }))],
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      signal
    }
  }

  /** @param {import('../http.js').Request} request */
  async #ask (request) {
    return this.#explained(request.signal, () => this.#http.ask(request))
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {() => Promise<T>} work
   */
  async #explained (signal, work) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      throw signal?.aborted ? signal.reason : this.#explain(error)
    }
  }

  /** @param {unknown} error */
  #explain (error) {
    if (!(error instanceof AnswerError)) return connectError(this.place, error)
    const { status } = error
    const { user, password, version } = this.options
    if (status === 401 && password === '' && (user || version !== '1')) {
      const what = version === '1' ? 'password' : 'token'
      return passwordMissing(error, this.place, { user: version === '1' ? user : '', what, code: 'SLUICE_SINK_INFLUXDB' })
    }
    const fix = status === 401
      ? this.#version.loginFix
      : status === 403 ? 'Grant the right to read and write.' : fixFor(error, ANSWER_FIXES)
    return new SluiceError('SLUICE_SINK_INFLUXDB', `${this.place}: ${reasonOf(error)}.`, { cause: error, fix })
  }
}

/** @param {any} error */
export function isMissingDatabase (error) {
  return error?.cause instanceof AnswerError && /(database|bucket|namespace).*not found/i.test(error.cause.message)
}

/** A series as objects. @param {import('./influxql.js').Series[]} series @returns {Record<string, any>[]} */
export function rowsOf (series) {
  return series.flatMap(({ columns, values }) => values.map(row => Object.fromEntries(columns.map((column, c) => [column, row[c]]))))
}

/** Of a duration as the server shows it, `168h0m0s`. @param {string} text */
function durationNs (text) {
  const [, hours = '0', minutes = '0', seconds = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? []
  return (BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds)) * 1_000_000_000n
}

/** The answer that an error of the library stands for. @param {any} error */
function answerIn (error) {
  const status = error?.res?.statusCode
  if (status === undefined) return error
  const text = /\{.*\}/s.exec(error.message)?.[0] ?? ''
  return new AnswerError(status, text, reasonIn(text))
}

/** Servers put it into JSON, by one of two names; version 3 adds what is wrong with each line. @param {string} text */
function reasonIn (text) {
  try {
    const { error, message, data } = JSON.parse(text)
    const first = data?.[0]?.error_message
    return `${message ?? error ?? text}${first ? `: ${first}` : ''}`
  } catch {
    return text.trim()
  }
}
