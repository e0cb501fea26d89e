import { isIP } from 'node:net'
import { withDefaults } from '../../base/defaults.js'
import { connectError, orPasswordMissing, silence } from '../connecting/failure.js'
import { Lender } from '../connecting/lender.js'
import { CONNECT_TIMEOUT_MS, testInTime } from '../connecting/limits.js'
import { plainTextAdvice, tlsOptions } from '../connecting/tls.js'
import { schema } from './connection.schema.js'
import { Session } from './session.js'

export { schema }

/**
 * @typedef {object} HanaOptions
 * @property {string} host
 * @property {number} port
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {number} connections
 */

/** A row has to fit. */
const MAX_PACKET_BYTES = 4 * 1024 * 1024

/** By numbers of the server, and words of the driver, which keeps no codes. @type {import('../connecting/failure.js').Fixes} */
const FIXES = [
  [10, 'Check user and password.'],
  [414, 'Set a new password for the user: the server asks for it.'],
  [416, 'The user is locked: have an administrator unlock it.'],
  [/ECONNREFUSED/, 'Check host and port, and that the server runs.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Check the host name.'],
  [/before secure TLS|wrong version number|packet length too long|EPROTO/, 'Check the port and whether the server expects TLS there.'],
  [/Invalid initialization reply|No initialization reply/, 'Check port and TLS: what answers does not speak the protocol of SAP HANA.'],
  [/No authentication method/, 'Enter user and password in the settings of the server.']
]

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new HanaServer(/** @type {any} */ (withDefaults(schema, options)))
}

/** Connections to one server, opened when needed. One that fails is given up, and the next use opens another. */
export class HanaServer {
  #options
  #lender
  /** @type {Session[]} */
  #idle = []
  #isClosed = false

  /** @param {HanaOptions} options */
  constructor (options) {
    this.#options = options
    this.#lender = new Lender(options.connections, {
      connect: () => this.#connect(),
      breakOff: session => session.destroy(),
      async giveBack (session) {
        await session.rollback().catch(() => session.destroy())
        session.release()
      }
    })
  }

  /** For messages. */
  get place () { return `SAP HANA at ${this.#options.host}:${this.#options.port}` }

  /** @template T @param {(session: Session) => Promise<T>} work @param {AbortSignal} [signal] @returns {Promise<T>} */
  use (work, signal) { return this.#lender.use(work, signal) }

  /** To a query. @type {HanaServer['use']} */
  read (work, signal) { return this.#lender.read(work, signal) }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, ends => this.use(async session => {
      const [{ VERSION: version }] = await session.rows('SELECT VERSION FROM SYS.M_DATABASE')
      const [{ NAME: user, HOME: home }] = await session.rows('SELECT CURRENT_USER AS NAME, CURRENT_SCHEMA AS HOME FROM DUMMY')
      return [
        `SAP HANA ${version}, logged in as ${user}, schema "${home}".`,
        'The node was never tested with a real SAP HANA, only with a fake one: look at the first rows.',
        plainTextAdvice(this.#options)
      ].filter(sentence => sentence !== '').join(' ')
    }, ends))
  }

  async close () {
    this.#isClosed = true
    this.#lender.breakOff()
    for (const session of this.#idle.splice(0)) session.destroy()
  }

  /** @returns {Promise<Session>} */
  async #connect () {
    for (let session = this.#idle.pop(); session; session = this.#idle.pop()) if (!session.isBroken) return session
    const { host, port, database, user, password, tls } = this.#options
    const { default: hdb } = await import(/** @type {any} */ ('hdb'))
    const client = hdb.createClient({
      host,
      port,
      user,
      password,
      ...database !== '' && { databaseName: database },
      useTLS: tls !== 'off',
      ...tlsOptions(this.#options)?.ca !== undefined && { ca: tlsOptions(this.#options)?.ca, sslHanaCloudCertificates: false },
      ...tls !== 'off' && { rejectUnauthorized: tls === 'verify', servername: isIP(host) ? '' : host },
      initializationTimeout: CONNECT_TIMEOUT_MS,
      packetSizeLimit: MAX_PACKET_BYTES
    })
    try {
      await inTime(client)
    } catch (error) {
      client.destroy()
      throw connectError(this.place, orPasswordMissing(error, this.place, { user, password }, [10, /No authentication method/]), FIXES)
    }
    return new Session(client, session => {
      if (this.#isClosed) session.destroy()
      else if (!session.isBroken) this.#idle.push(session)
    })
  }
}

/** @param {any} client @returns {Promise<void>} */
function inTime (client) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(silence(CONNECT_TIMEOUT_MS)), CONNECT_TIMEOUT_MS)
    client.on('error', reject)
    client.connect((/** @type {unknown} */ error) => {
      clearTimeout(timer)
      client.off('error', reject)
      if (error) reject(error)
      else resolve()
    })
  })
}
