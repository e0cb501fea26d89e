import { readFileSync } from 'node:fs'
import { MongoClient, MongoNetworkError, MongoServerSelectionError } from 'mongodb'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { schema } from './connection.schema.js'

export { schema }

/**
 * @typedef {import('mongodb').Db} Db
 * @typedef
 *   {{url: string, database: string, user: string, password: string, tls: 'auto'|'require'|'verify', ca: string, connections: number}}
 *   ConnectionOptions
 * @typedef {{version: string, isFerretdb: boolean}} Product  `isFerretdb`: FerretDB 1, which keeps the documents as JSON
 */

const CONNECT_TIMEOUT_MS = 10_000

/** How long to look for a server that can be used; what is written waits in the writer, where its status is seen. */
const SELECTION_TIMEOUT_MS = 4000

const AUTHENTICATION_FAILED = 18
const UNAUTHORIZED = 13

/** What to do about the usual reasons why there is no connection, by code of the server or the system. @type {Record<string, string>} */
const FIXES = {
  [AUTHENTICATION_FAILED]: 'Check user and password, and authSource and authMechanism in the URL.',
  [UNAUTHORIZED]: 'Set user and password, and grant the user readWrite on the database.',
  ENOENT: 'Check the path of the CA certificate.',
  ECONNREFUSED: 'Check the URL, and that the server runs.',
  ENOTFOUND: 'Check the host name in the URL.',
  EAI_AGAIN: 'Check the host name in the URL and the network.',
  SELF_SIGNED_CERT_IN_CHAIN: 'Set the CA certificate that signed the server\'s.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'Set the server\'s certificate as CA certificate.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Set the CA certificate that signed the server\'s.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'Set the CA certificate that signed the server\'s.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Connect by a name that is in the server\'s certificate.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The server does not encrypt: set TLS to auto.'
}

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log}} [context]
 * @throws {SluiceError} SLUICE_OPTIONS where the URL contains a password
 */
export function connect (options, { log } = {}) {
  return new MongodbServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)), log)
}

/** Connections to one server or cluster, made when needed, and again after an error. */
export class MongodbServer {
  #options
  #log
  /** @type {Promise<MongoClient>|null} */
  #client = null
  /** @type {Product|null} */
  #product = null

  /** @param {ConnectionOptions} options @param {import('../../base/log.js').Log} [log] */
  constructor (options, log) {
    // Wherever: a password with a / or ? in it, which should be written otherwise there, is one all the same.
    if (options.url.includes('@')) {
      throw new SluiceError('SLUICE_OPTIONS', `The URL of the MongoDB server at ${hostsOf(options.url)} contains a user or password.`, {
        fix: 'Enter them in the fields User and Password, which are kept encrypted, and take them out of the URL.'
      })
    }
    this.#options = options
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
      throw new SluiceError('SLUICE_SINK_CONNECT', `No connection to ${this.place}: ${describe(error)}.`, { cause: error, fix: fixFor(error) ?? 'Check the URL and TLS, and that the server runs.' })
    }
  }

  async test () {
    return this.use(async (db, { version, isFerretdb }) => {
      await db.command({ ping: 1 })
      await db.listCollections({}, { nameOnly: true }).toArray()
      const { setName } = await db.command({ hello: 1 })
      const { authInfo } = await db.command({ connectionStatus: 1 })
      const [user] = authInfo?.authenticatedUsers ?? []
      const what = isFerretdb ? `FerretDB (MongoDB protocol ${version}), which stores no NaN, no infinities and no time-series collections` : `MongoDB ${version}`
      const login = user ? `logged in as "${user.user}"` : this.#options.user ? `logged in as "${this.#options.user}"` : 'without a login'
      return `${what}, ${setName ? `replica set "${setName}", ` : ''}database "${db.databaseName}", ${login}.`
    })
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
    const { url, user, password, tls, ca, connections } = this.#options
    const limits = new URLSearchParams(url.split('?')[1])
    return new MongoClient(url, {
      ...user !== '' && { auth: { username: user, password } },
      ...tls === 'require' && { tls: true, tlsAllowInvalidCertificates: true },
      ...tls === 'verify' && { tls: true, ca: certificate(ca) },
      ...!limits.has('serverSelectionTimeoutMS') && { serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS },
      ...!limits.has('connectTimeoutMS') && { connectTimeoutMS: CONNECT_TIMEOUT_MS },
      maxPoolSize: connections,
      appName: 'sluice'
    })
  }

  /** @param {Db} db @returns {Promise<Product>} */
  async #productOf (db) {
    if (!this.#product) {
      const { version, ferretdbVersion } = await db.command({ buildInfo: 1 })
      this.#product = { version, isFerretdb: ferretdbVersion !== undefined }
      if (this.#product.isFerretdb) this.#log?.info(`${this.place} is FerretDB: NaN is stored as missing, and rows with infinities are refused.`)
    }
    return this.#product
  }
}

/** @param {any} error */
function isConnectionError (error) {
  return error instanceof MongoNetworkError || error instanceof MongoServerSelectionError || fixFor(error) !== undefined ||
    ['MongoParseError', 'MongoInvalidArgumentError', 'MongoAPIError', 'MongoMissingCredentialsError'].includes(error?.name)
}

/** @param {unknown} error */
function fixFor (error) {
  for (let cause = /** @type {any} */ (error); cause; cause = cause.cause) {
    const fix = FIXES[cause.code] ?? (/authentication failed/i.test(cause.message) ? FIXES[AUTHENTICATION_FAILED] : undefined)
    if (fix) return fix
  }
}

/** The hosts of a URL. @param {string} url */
function hostsOf (url) {
  return url.replace(/^[^/]*\/\//, '').replace(/^.*@/s, '').replace(/[/?].*$/s, '')
}

/** @param {string} ca  PEM text, a path, or empty */
function certificate (ca) {
  if (ca === '') return undefined
  return ca.includes('-----BEGIN') ? ca : readFileSync(ca, 'utf8')
}
