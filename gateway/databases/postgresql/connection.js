import { readFileSync } from 'node:fs'
import pg from 'pg'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { CopyEncoder } from './copy-encoder.js'
import { schema } from './connection.schema.js'

export { schema }

/**
 * @typedef {import('pg').PoolClient} Client
 * @typedef
 *   {{host: string, port: number, database: string, user: string, password: string, tls: 'off'|'require'|'verify', ca: string, connections: number}}
 *   ConnectionOptions
 */

/** Below the 15 s that Node-RED leaves a node to close, and a test to answer. */
const CONNECT_TIMEOUT_MS = 10_000

/** A server that is gone without a word is found out after this long, and not after the system's two hours. */
const KEEP_ALIVE_MS = 20_000

/** With asynchronous commits, a crash of the server would lose what the spool has let go of. */
const DURABLE_COMMITS = 'SELECT set_config(\'synchronous_commit\', \'on\', false) WHERE current_setting(\'synchronous_commit\') = \'off\''

/** What to do about the usual reasons why there is no connection, by SQLSTATE or system error. @type {Record<string, string>} */
const FIXES = {
  '28P01': 'Check user and password.',
  28000: 'Check the user, TLS and the server\'s pg_hba.conf.',
  '3D000': 'Create the database, or check its name.',
  53300: 'Raise the server\'s max_connections, or lower the connections of its users.',
  ECONNREFUSED: 'Check host and port, and that the server runs.',
  ENOTFOUND: 'Check the host name.',
  EAI_AGAIN: 'Check the host name and the network.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Set the CA certificate that signed the server\'s.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Set the server\'s certificate as CA certificate.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Set the CA certificate that signed the server\'s.'
}

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log}} [context]
 */
export function connect (options, { log } = {}) {
  return new PostgresqlServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)), log)
}

/** Connections to one server, made when needed. One that fails is given up, and the next use makes a new one. */
export class PostgresqlServer {
  #options
  #log
  /** @type {pg.Pool|null} */
  #pool = null
  /** @type {WeakMap<Client, CopyEncoder>} */
  #encoders = new WeakMap()
  /** @type {Set<() => void>} each breaks off a connection that is lent */
  #lent = new Set()
  #turns
  #readers
  #isClosed = false

  /** @param {ConnectionOptions} options @param {import('../../base/log.js').Log} [log] */
  constructor (options, log) {
    this.#options = options
    this.#log = log
    this.#turns = new Turns(options.connections)
    this.#readers = new Turns(Math.max(1, options.connections - 1))
  }

  /**
   * Lends a connection, once one is free. What the work leaves uncommitted when it fails is rolled back.
   * @template T
   * @param {(client: Client, encoder: CopyEncoder) => Promise<T>} work
   * @param {AbortSignal} [signal]  breaks the connection off
   * @returns {Promise<T>}
   * @throws {SluiceError} SLUICE_SINK_CONNECT, SLUICE_SINK_CLOSED
   */
  use (work, signal) {
    return this.#turns.run(() => this.#lend(work, signal), signal)
  }

  /**
   * Lends a connection to a query, which may be read slowly: queries never have all of them, so that sinks go on.
   * @type {PostgresqlServer['use']}
   */
  read (work, signal) {
    return this.#readers.run(() => this.use(work, signal), signal)
  }

  /** For messages. */
  get place () { return `PostgreSQL at ${this.#options.host}:${this.#options.port}` }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return this.use(async client => {
      const { rows: [found] } = await client.query(`SELECT version(), current_user AS "user", current_database() AS database, has_database_privilege(current_database(), 'CREATE') AS may_create_schemas,
        coalesce(has_schema_privilege('public', 'CREATE'), false) AS may_create_tables, (SELECT extversion FROM pg_extension WHERE extname = 'timescaledb') AS timescale`)
      const { version, user, database, may_create_schemas: schemas, may_create_tables: tables, timescale } = found
      const rights = tables || schemas ? '' : ' It may not create tables: make them beforehand, or grant CREATE.'
      return `${/^\S+ \S+/.exec(version)?.[0]}${timescale ? ` with TimescaleDB ${timescale}` : ''}, database "${database}", logged in as "${user}".${rights}`
    }, signal)
  }

  /** Breaks off what is still lent: whoever has it has given up waiting for it. */
  async close () {
    this.#isClosed = true
    const pool = this.#pool
    this.#pool = null
    const ended = pool?.end()
    for (const breakOff of this.#lent) breakOff()
    await ended
  }

  /** @type {PostgresqlServer['use']} */
  async #lend (work, signal) {
    const client = await this.#connect(signal)
    const breakOff = () => /** @type {any} */ (client).connection.stream.destroy()
    this.#lent.add(breakOff)
    signal?.addEventListener('abort', breakOff)
    try {
      signal?.throwIfAborted()
      const result = await work(client, this.#encoderOf(client))
      client.release()
      return result
    } catch (error) {
      await giveBack(client)
      throw signal?.aborted ? signal.reason : error
    } finally {
      signal?.removeEventListener('abort', breakOff)
      this.#lent.delete(breakOff)
    }
  }

  /** @param {AbortSignal} [signal] */
  async #connect (signal) {
    if (this.#isClosed) throw new SluiceError('SLUICE_SINK_CLOSED', `The connections to ${this.place} have been closed.`)
    this.#pool ??= this.#open()
    const connecting = this.#pool.connect()
    try {
      return await orAborted(connecting, signal)
    } catch (error) {
      if (signal?.aborted) {
        connecting.then(client => client.release(), () => {}) // nobody waits for it any more
        throw signal.reason
      }
      const { host, port, database } = this.#options
      throw new SluiceError('SLUICE_SINK_CONNECT', `No connection to PostgreSQL at ${host}:${port}, database "${database}": ${describe(error)}.`, { cause: error, fix: fixFor(error) })
    }
  }

  #open () {
    const { host, port, database, user, password, connections, tls, ca } = this.#options
    const pool = new pg.Pool({
      host,
      port,
      database,
      user,
      password,
      ssl: tls === 'off' ? false : tls === 'require' ? { rejectUnauthorized: false } : { rejectUnauthorized: true, ca: certificate(ca) },
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
      client.query(DURABLE_COMMITS).catch(() => {}) // then the connection has ended, which the next query says
    })
    pool.on('error', error => this.#log?.warn(`PostgreSQL at ${host}:${port} ended an idle connection: ${describe(error)}`))
    return pool
  }

  /** @param {Client} client */
  #encoderOf (client) {
    const encoder = this.#encoders.get(client) ?? new CopyEncoder()
    this.#encoders.set(client, encoder)
    return encoder
  }
}

/**
 * @template T
 * @param {Promise<T>} work
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>} rejects at once when told to end
 */
async function orAborted (work, signal) {
  if (!signal) return work
  /** @type {PromiseWithResolvers<never>} */
  const { promise: aborted, reject } = Promise.withResolvers()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
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

/** @param {string} ca  PEM text, a path, or empty */
function certificate (ca) {
  if (ca === '') return undefined
  return ca.includes('-----BEGIN') ? ca : readFileSync(ca, 'utf8')
}

/** @param {unknown} error */
function fixFor (error) {
  const { code, errors = [], message } = /** @type {Error & {code?: string, errors?: {code?: string}[]}} */ (error)
  return FIXES[code ?? errors[0]?.code ?? ''] ?? (/timeout/.test(message) ? FIXES.ECONNREFUSED : undefined)
}
