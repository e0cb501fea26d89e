import { MongoClient, MongoNetworkError, MongoServerSelectionError } from 'mongodb'
import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { connectError, fixFor, orPasswordMissing } from '../connecting/failure.js'
import { ANSWER_TIMEOUT_MS, CONNECT_TIMEOUT_MS, testInTime } from '../connecting/limits.js'
import { tlsOptions } from '../connecting/tls.js'
import './closed-connections.js'
import { schema } from './connection.schema.js'

export { schema }

/**
 * @typedef {import('mongodb').Db} Db
 *
 * @typedef {object} ConnectionOptions
 * @property {string} url
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'auto'|'require'|'verify'} tls
 * @property {string} ca
 * @property {number} connections
 *
 * @typedef {{version: string, isFerretdb: boolean}} Product  `isFerretdb`: FerretDB 1, which keeps the documents as JSON
 */

/** How long to look for a server that can be used; what is written waits in the writer, where its status is seen. */
const SELECTION_TIMEOUT_MS = 4000

const LOGIN_FIX = 'Check user and password, and authSource and authMechanism in the URL.'

/** What is said of a user without a password: by the server, and by the driver. */
const NO_PASSWORD = [18, /authentication failed|password/i]

/** By code of the server or the system. @type {import('../connecting/failure.js').Fixes} */
const FIXES = [
  [18, LOGIN_FIX],
  [/authentication failed/i, LOGIN_FIX],
  [13, 'Set user and password, and grant the user readWrite on the database.'],
  ['ECONNREFUSED', 'Check the URL, and that the server runs.'],
  ['ENOTFOUND', 'Check the host name in the URL.'],
  ['EAI_AGAIN', 'Check the host name in the URL and the network.'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'The server does not encrypt: set TLS to auto.']
]

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log, silenceMs?: number}} [context]  `silenceMs`: without an answer, a connection is lost
 * @throws {SluiceError} SLUICE_OPTIONS where the URL contains a password
 */
export function connect (options, { log, silenceMs = ANSWER_TIMEOUT_MS } = {}) {
  return new MongodbServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)), silenceMs, log)
}

/** Connections to one server or cluster, opened when needed, and again after an error. */
export class MongodbServer {
  #options
  #silenceMs
  #log
  /** @type {Promise<MongoClient>|null} */
  #client = null
  /** @type {Product|null} */
  #product = null

  /** @param {ConnectionOptions} options @param {number} silenceMs @param {import('../../base/log.js').Log} [log] */
  constructor (options, silenceMs, log) {
    // Anywhere in it: a / or ? in a password, which should have been escaped, must not hide it.
    if (options.url.includes('@')) {
      throw new SluiceError('SLUICE_OPTIONS', `The URL of the MongoDB server at ${hostsOf(options.url)} contains a user or password.`, {
        fix: 'Enter them in the fields User and Password, which are kept encrypted, and take them out of the URL.'
      })
    }
    this.#options = options
    this.#silenceMs = silenceMs
    this.#log = log
  }

  /** For messages. */
  get place () { return `MongoDB at ${hostsOf(this.#options.url)}, database "${this.#options.database}"` }

  get database () { return this.#options.database }

  /**
   * @template T
   * @param {(db: Db, product: Product) => Promise<T>} work
   * @returns {Promise<T>}
   * @throws {SluiceError} SLUICE_SINK_CONNECT
   */
  async use (work) {
    try {
      const client = await this.#connect()
      const db = client.db(this.#options.database)
      return await work(db, await this.#productOf(db))
    } catch (error) {
      if (!isConnectionError(error)) throw error
      const reason = this.#options.user === '' ? error : orPasswordMissing(error, this.place, this.#options, NO_PASSWORD)
      throw connectError(this.place, reason, FIXES, 'Check the URL and TLS, and that the server runs.')
    }
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, () => this.use(async (db, { version, isFerretdb }) => {
      await db.command({ ping: 1 })
      await db.listCollections({}, { nameOnly: true }).toArray()
      const { setName } = await db.command({ hello: 1 })
      const { authInfo } = await db.command({ connectionStatus: 1 })
      const user = authInfo?.authenticatedUsers?.[0]?.user ?? this.#options.user
      const what = isFerretdb
        ? `FerretDB (MongoDB protocol ${version}), which stores no NaN, no infinities and no time-series collections`
        : `MongoDB ${version}`
      const login = user ? `logged in as "${user}"` : 'without a login'
      return `${what}, ${setName ? `replica set "${setName}", ` : ''}database "${db.databaseName}", ${login}.`
    }))
  }

  async close () {
    const client = await this.#client?.catch(() => null)
    this.#client = null
    this.#product = null
    await client?.close()
  }

  /** Once connected, the driver finds its servers again by itself; a client that has failed to connect never does. */
  #connect () {
    this.#client ??= this.#open().catch(error => {
      this.#client = null
      throw error
    })
    return this.#client
  }

  async #open () {
    const client = this.#newClient()
    try {
      return await client.connect()
    } catch (error) {
      await client.close()
      throw error
    }
  }

  #newClient () {
    const { url, user, password, connections } = this.#options
    const tls = tlsOptions(this.#options)
    const limits = new URLSearchParams(url.split('?')[1])
    return new MongoClient(url, {
      ...user !== '' && { auth: { username: user, password } },
      ...tls && { tls: true, ...tls },
      ...!limits.has('serverSelectionTimeoutMS') && { serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS },
      ...!limits.has('connectTimeoutMS') && { connectTimeoutMS: CONNECT_TIMEOUT_MS },
      ...!limits.has('socketTimeoutMS') && { socketTimeoutMS: this.#silenceMs },
      maxPoolSize: connections,
      appName: 'sluice'
    })
  }

  /** @param {Db} db @returns {Promise<Product>} */
  async #productOf (db) {
    if (!this.#product) {
      const { version, ferretdbVersion } = await db.command({ buildInfo: 1 })
      this.#product = { version, isFerretdb: ferretdbVersion !== undefined }
      if (ferretdbVersion !== undefined) {
        this.#log?.info(`${this.place} is FerretDB: NaN is stored as missing, and rows with infinities are refused.`)
      }
    }
    return this.#product
  }
}

/** @param {any} error */
function isConnectionError (error) {
  return error instanceof MongoNetworkError || error instanceof MongoServerSelectionError || fixFor(error, FIXES) !== undefined ||
    ['MongoParseError', 'MongoInvalidArgumentError', 'MongoAPIError', 'MongoMissingCredentialsError'].includes(error?.name)
}

/** The hosts of a URL. @param {string} url */
function hostsOf (url) {
  return url.replace(/^[^/]*\/\//, '').replace(/^.*@/s, '').replace(/[/?].*$/s, '')
}
