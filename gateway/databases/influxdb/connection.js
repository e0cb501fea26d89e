import { InfluxDB } from 'influx'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { AnswerError, HttpClient } from './http.js'
import { parseAnswer, quoteName } from './influxql.js'
import { schema } from './connection.schema.js'
import { VERSIONS } from './versions.js'

export { schema }

/**
 * @typedef
 *   {import('./http.js').HttpOptions & {version: '1'|'2'|'3', database: string, organisation: string, user: string, password: string, udpPort: number}}
 *   InfluxdbOptions
 * @typedef {{name: string, isDefault: boolean, keptNs: bigint}} Policy  `keptNs` is 0 where it keeps for ever
 */

const TEST_TIMEOUT_MS = 14_000

/** What to do about the usual reasons why there is no answer. @type {Record<string, string>} */
const FIXES = {
  ECONNREFUSED: 'Check host and port, and that the server runs.',
  ENOTFOUND: 'Check the host name.',
  EAI_AGAIN: 'Check the host name and the network.',
  ETIMEDOUT: 'Check host and port, and the firewalls on the way.',
  EPROTO: 'Check whether the server has TLS at this port.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'Check whether the server has TLS at this port.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'Check whether the server has TLS at this port.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Set the CA certificate that signed the server\'s.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Set the server\'s certificate as CA certificate.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Set the CA certificate that signed the server\'s.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'Set the CA certificate that signed the server\'s.'
}

/** The server's words for what an administrator has to see to. @type {[RegExp, string][]} */
const ANSWER_FIXES = [
  [/max-values-per-tag|max-series-per-database|max series/i, 'A tag has more values than the server allows: send it as a field, or raise the server\'s limit.'],
  [/no space left on device/i, 'Make room on the server\'s disk, and start InfluxDB again: version 1 does not go on by itself.'],
  [/HTTP request to an HTTPS server/i, 'The server has TLS at this port: switch it on.']
]

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log}} [context]
 */
export function connect (options, { log } = {}) {
  return new InfluxdbServer(/** @type {InfluxdbOptions} */ (withDefaults(schema, options)), log)
}

/** One server and database, by HTTP. Each error says which server, and what to do. */
export class InfluxdbServer {
  #version
  /** @type {HttpClient|null} */
  #client = null

  /** @param {InfluxdbOptions} options @param {import('../../base/log.js').Log} [log] */
  constructor (options, log) {
    this.options = options
    this.log = log
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
    await this.#ask({ path: this.#version.writePath(place, this.options), body: lines, compressible: true, signal, headers: { 'content-type': 'text/plain; charset=utf-8' } })
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
   * The answer as it comes, an object a line.
   * @param {string} statement  InfluxQL
   * @param {{rows: number, signal?: AbortSignal}} options  `rows` of an object, at most
   */
  async queryChunks (statement, { rows, signal }) {
    return this.#explained(signal, () => this.#http.open(this.#authorised(this.#queryRequest(statement, { signal, chunked: 'true', chunk_size: String(rows) }))))
  }

  /** What is in an answer, or an object of one. @param {string} text @throws {SluiceError} what the server has to say instead */
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
    await this.#ask({ path, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  }

  /** Where rows and commit records go. @param {string} policy  of version 1; empty for the database's own */
  places (policy) {
    return this.#version.places(this, policy)
  }

  /** @param {import('./versions.js').Place} records @param {string} key @param {number} first @param {number} last */
  forget (records, key, first, last) {
    return this.#version.forget(this, records, key, first, last)
  }

  /** The retention policies of the database, which is made where it is missing. Version 1. @returns {Promise<Policy[]>} */
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
    await this.#administer(`create the retention policy "${name}" without end, which commit records need to outlive the rows`, influx => influx.createRetentionPolicy(name, { database, duration: 'INF', replication: 1 }))
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    /** @type {NodeJS.Timeout|undefined} */
    let timer
    const late = new Promise((_resolve, reject) => {
      const silent = Object.assign(new Error(`no answer within ${TEST_TIMEOUT_MS / 1000} s`), { code: 'ETIMEDOUT' })
      timer = setTimeout(() => reject(this.#explain(silent)), TEST_TIMEOUT_MS)
    })
    try {
      return await Promise.race([this.#tell(signal), late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** What is there, in a sentence. @param {AbortSignal} [signal] @returns {Promise<string>} */
  async #tell (signal) {
    const { version, database, user } = this.options
    const { headers, text } = await this.#ask({ method: 'GET', path: '/ping', signal })
    const found = String(headers['x-influxdb-version'] ?? /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'of unknown version').replace(/~.*/, '')
    const major = /\d/.exec(found)?.[0]
    if (major && major !== version) {
      throw new SluiceError('SLUICE_SINK_CONNECT', `${this.place} is InfluxDB ${found}, not version ${version}.`, { fix: `Set version ${major}.` })
    }
    if (version === '1') {
      const names = await this.#administer('show its databases', influx => influx.getDatabaseNames())
      const rights = names.includes(database) ? '' : ' It is not there, or this user may not see it: the sink will try to create it.'
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
    this.#client ??= new HttpClient(this.options)
    return this.#client
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
        host, port, database, username: user, password, protocol: tls === 'off' ? 'http' : 'https', options: this.#http.connection, pool: { maxRetries: 0, requestTimeout: TEST_TIMEOUT_MS }
      }))
    } catch (error) {
      const answer = answerIn(error)
      if (!(answer instanceof AnswerError) || answer.status !== 403) throw this.#explain(answer)
      throw new SluiceError('SLUICE_SINK_CONNECT', `${this.place}: the user "${user}" may not ${what}: ${oneLine(answer.message)}.`, { cause: answer, fix: 'Do that as an administrator, or grant the right.' })
    }
  }

  /**
   * @param {string} statement
   * @param {{database?: string, signal?: AbortSignal} & Record<string, any>} options
   * @returns {import('./http.js').Request}
   */
  #queryRequest (statement, { database = this.options.database, signal, ...parameters }) {
    return {
      path: `/query?${new URLSearchParams({ db: database, epoch: 'ns', ...parameters })}`,
      body: String(new URLSearchParams({ q: statement })),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      signal
    }
  }

  /** @param {import('./http.js').Request} request */
  async #ask (request) {
    return this.#explained(request.signal, () => this.#http.ask(this.#authorised(request)))
  }

  /** @param {import('./http.js').Request} request */
  #authorised (request) {
    return { ...request, headers: { ...request.headers, ...this.#version.headers(this.options) } }
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

  /** @param {any} error */
  #explain (error) {
    if (!(error instanceof AnswerError)) {
      return new SluiceError('SLUICE_SINK_CONNECT', `No connection to ${this.place}: ${oneLine(describe(error))}.`, { cause: error, fix: FIXES[error.code ?? error.errors?.[0]?.code ?? ''] })
    }
    const { status, message } = error
    const fix = status === 401 ? this.#version.loginFix : status === 403 ? 'Grant the right to read and write.' : ANSWER_FIXES.find(([words]) => words.test(message))?.[1]
    return new SluiceError('SLUICE_SINK_INFLUXDB', `${this.place}: ${oneLine(message)}.`, { cause: error, fix })
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

/** What the library makes of an answer, as ours. @param {any} error */
function answerIn (error) {
  const status = error?.res?.statusCode
  return status === undefined ? error : new AnswerError(status, /\{.*\}/s.exec(error.message)?.[0] ?? '')
}

/** Answers may repeat each line that they refuse. @param {string} message */
function oneLine (message) {
  const text = message.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}
