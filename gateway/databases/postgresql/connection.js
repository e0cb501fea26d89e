import pg from 'pg'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { connectError, orPasswordMissing } from '../connecting/failure.js'
import { Lender } from '../connecting/lender.js'
import { ANSWER_TIMEOUT_MS, CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS, patiently, testInTime, Watch } from '../connecting/limits.js'
import { isPath, plainTextAdvice, tlsOptions } from '../connecting/tls.js'
import { CopyEncoder } from './copy-encoder.js'
import { schema } from './connection.schema.js'
import { ScramClient } from './scram-client.js'

export { schema }

/**
 * @typedef {import('pg').PoolClient} Client
 *
 * @typedef {object} ConnectionOptions
 * @property {string} host
 * @property {number} port
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {boolean} weakLogin
 * @property {number} connections
 */

/**
 * With asynchronous commits, a crash of the server would lose what the spool has released. A gateway that has vanished, or its connection,
 * leaves a transaction that holds what the same batch waits for when it comes again: the server looks for it after seconds, not hours. And
 * who waits for a lock is told so before it takes the connection for lost (see ANSWER_TIMEOUT_MS).
 */
const SESSION = `SELECT set_config(name, value, false) FROM pg_settings JOIN (VALUES ('synchronous_commit', 'on'), ('lock_timeout', '50s'),
  ('tcp_keepalives_idle', '20'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '4'), ('tcp_user_timeout', '60s')
  ) AS wanted (name, value) USING (name) WHERE name <> 'synchronous_commit' OR setting = 'off'`

/** What the test of a connection reports. */
const FACTS = `SELECT version(), current_user AS "user", current_database() AS database,
  has_database_privilege(current_database(), 'CREATE') OR coalesce(has_schema_privilege('public', 'CREATE'), false) AS may_create,
  (SELECT extversion FROM pg_extension WHERE extname = 'timescaledb') AS timescale`

/** By SQLSTATE. The driver's own timeouts have no code. @type {import('../connecting/failure.js').Fixes} */
const FIXES = [
  ['28P01', 'Check user and password.'],
  ['28000', 'Check the user, TLS and the server\'s pg_hba.conf.'],
  [/password.* without TLS/, 'Switch TLS on, or have the server use scram-sha-256; otherwise allow weak logins.'],
  ['3D000', 'Create the database, or check its name.'],
  ['53300', 'Raise the server\'s max_connections, or lower the connections of its users.'],
  ['ENOENT', 'Check the folder of the socket, and that the server runs.'],
  [/timeout/, 'Check host and port, and that the server runs.']
]

/** What is said where there is no password: by the driver, asked for SCRAM, and by the server. */
const NO_PASSWORD = [/client password must be a/, '28P01']

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log, silenceMs?: number}} [context]  `silenceMs`: without an answer, a connection is lost
 */
export function connect (options, { log, silenceMs = ANSWER_TIMEOUT_MS } = {}) {
  return new PostgresqlServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)), silenceMs, log)
}

/** Connections to one server, opened when needed. One that fails is given up, and the next use opens another. */
export class PostgresqlServer {
  #options
  #watch
  #log
  /** @type {pg.Pool|null} */
  #pool = null
  /** @type {WeakMap<Client, CopyEncoder>} */
  #encoders = new WeakMap()
  #lender
  #isClosed = false

  /** @param {ConnectionOptions} options @param {number} silenceMs @param {import('../../base/log.js').Log} [log] */
  constructor (options, silenceMs, log) {
    this.#options = options
    this.#watch = new Watch(silenceMs)
    this.#log = log
    this.#lender = new Lender(options.connections, { connect: () => this.#connect(), breakOff, giveBack })
  }

  /**
   * Lends a connection, as Lender does.
   * @template T
   * @param {(client: Client, encoder: CopyEncoder) => Promise<T>} work
   * @param {AbortSignal} [signal]  breaks the connection off
   * @returns {Promise<T>}
   * @throws {SluiceError} SLUICE_SINK_CONNECT, SLUICE_SINK_CLOSED
   */
  use (work, signal) {
    return this.#lender.use(client => work(client, this.#encoderOf(client)), signal)
  }

  /** To a query. @type {PostgresqlServer['use']} */
  read (work, signal) {
    return this.#lender.read(client => patiently(socketOf(client), () => work(client, this.#encoderOf(client))), signal)
  }

  /** For messages. */
  get place () { return `PostgreSQL at ${this.#options.host}:${this.#options.port}` }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, ends => this.use(async client => {
      const { rows: [{ version, user, database, may_create: mayCreate, timescale }] } = await client.query(FACTS)
      const product = `${/^\S+ \S+/.exec(version)?.[0]}${timescale ? ` with TimescaleDB ${timescale}` : ''}`
      const rights = mayCreate ? '' : ' It may not create tables: create them beforehand, with the comment "Sluice", or grant CREATE.'
      const advice = plainTextAdvice(this.#options)
      return `${product}, database "${database}", logged in as "${user}".${rights}${advice && ` ${advice}`}`
    }, ends))
  }

  /** Breaks off what is still lent: whoever has it has given up waiting for it. */
  async close () {
    this.#isClosed = true
    const pool = this.#pool
    this.#pool = null
    const ended = pool?.end()
    this.#lender.breakOff()
    await ended
  }

  async #connect () {
    if (this.#isClosed) throw new SluiceError('SLUICE_SINK_CLOSED', `The connections to ${this.place} have been closed.`)
    try {
      this.#pool ??= this.#open()
      return await this.#pool.connect()
    } catch (error) {
      const reason = orPasswordMissing(error, this.place, this.#options, NO_PASSWORD)
      throw connectError(`${this.place}, database "${this.#options.database}"`, reason, FIXES)
    }
  }

  #open () {
    const { host, port, database, user, password, tls, weakLogin, connections } = this.#options
    const advice = plainTextAdvice(this.#options)
    if (advice) this.#log?.warn(`${this.place}: ${advice}`)
    const pool = new pg.Pool({
      Client: tls === 'off' && !weakLogin && !isPath(host) ? ScramClient : pg.Client,
      host,
      port,
      database,
      user,
      password,
      ssl: tlsOptions(this.#options) ?? false,
      max: connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: 0,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: 'sluice'
    })
    // A connection in use also reports its end by the query that it ends.
    pool.on('connect', client => {
      client.on('error', () => {})
      this.#watch.over(socketOf(client), () => !(/** @type {any} */ (client).readyForQuery))
      client.query(SESSION).catch(() => {}) // then the connection has ended, which the next query reports
    })
    pool.on('error', error => this.#log?.warn(`${this.place} ended an idle connection: ${describe(error)}`))
    return pool
  }

  /** @param {Client} client */
  #encoderOf (client) {
    const encoder = this.#encoders.get(client) ?? new CopyEncoder()
    this.#encoders.set(client, encoder)
    return encoder
  }
}

/** @param {pg.ClientBase} client @returns {import('node:net').Socket} */
export function socketOf (client) {
  return /** @type {any} */ (client).connection.stream
}

/** @param {Client} client */
function breakOff (client) {
  socketOf(client).destroy()
}

/** After an error. @param {Client} client */
async function giveBack (client) {
  try {
    await client.query('ROLLBACK')
    client.release()
  } catch (error) {
    client.release(/** @type {Error} */ (error))
  }
}
