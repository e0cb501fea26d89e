import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { connectError, orPasswordMissing } from '../connecting/failure.js'
import { Lender } from '../connecting/lender.js'
import { ANSWER_TIMEOUT_MS, patiently, testInTime, Watch } from '../connecting/limits.js'
import { plainTextAdvice } from '../connecting/tls.js'
import { connectionOptions, FIXES, NO_PASSWORD, openSocket, placeOf } from './login.js'
import { isTransient } from './refused.js'
import { schema } from './connection.schema.js'
import { startSession } from './session.js'

export { schema }

/**
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./session.js').Facts} Facts
 * @typedef {import('./login.js').ServerOptions} ServerOptions
 */

/** A server that does not answer does not close its connections either. */
const CLOSE_TIMEOUT_MS = 2000

const NO_SUCH_THREAD = 1094

const LOCAL_INFILE_HINT = 'It does not allow LOAD DATA LOCAL: rows go by INSERT, which is slower; ' +
  'local_infile=1 among the server\'s settings allows it.'

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log, silenceMs?: number}} [context]  `silenceMs`: without an answer, a connection is lost
 */
export function connect (options, { log, silenceMs = ANSWER_TIMEOUT_MS } = {}) {
  return new MysqlServer(/** @type {ServerOptions} */ (withDefaults(schema, options)), silenceMs, log)
}

/** Connections to one server, opened when needed. One that fails is given up, and the next use opens another. */
export class MysqlServer {
  #options
  #watch
  #log
  /** @type {mysql.Pool|null} */
  #pool = null
  /** @type {Set<import('node:net').Socket>} of the pool */
  #sockets = new Set()
  /** @type {WeakMap<object, Facts>} of connections that are set up */
  #facts = new WeakMap()
  /** @type {Set<string>} */
  #said = new Set()
  /** Whether the server, or something between, has refused LOAD DATA LOCAL although its settings allow it. */
  #refusesFiles = false
  #lender

  /** @param {ServerOptions} options @param {number} silenceMs @param {import('../../base/log.js').Log} [log] */
  constructor (options, silenceMs, log) {
    this.#options = options
    this.#watch = new Watch(silenceMs)
    this.#log = log
    this.#lender = new Lender(options.connections, { connect: () => this.#connect(), breakOff: lent => this.#breakOff(lent), giveBack })
  }

  /**
   * Lends a connection, as Lender does.
   * @template T
   * @param {(connection: Connection, facts: Facts) => Promise<T>} work
   * @param {AbortSignal} [signal]  breaks the connection off, and ends what the server does on it
   * @returns {Promise<T>}
   * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_CONNECT
   */
  use (work, signal) {
    return this.#lender.use(async connection => work(connection, await this.#factsOf(connection)), signal)
  }

  /** To a query. @type {MysqlServer['use']} */
  read (work, signal) {
    return this.#lender.read(async connection => {
      const facts = await this.#factsOf(connection)
      return patiently(socketOf(connection), () => work(connection, facts))
    }, signal)
  }

  /** For messages. */
  get place () { return `MySQL at ${placeOf(this.#options.host, this.#options.port)}` }

  get #advice () { return plainTextAdvice(this.#options) }

  /** Notes that LOAD DATA LOCAL was refused: from now on `facts.localInfile` is false. */
  refuseFiles () {
    this.#refusesFiles = true
    this.#facts = new WeakMap()
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, ends => this.use(async (connection, { product, version, localInfile, risks }) => {
      const [[{ database, user }]] = /** @type {[any[], any]} */ (
        await connection.query('SELECT DATABASE() AS `database`, CURRENT_USER() AS user')
      )
      const notes = [localInfile ? 'LOAD DATA LOCAL is allowed: the fast way.' : LOCAL_INFILE_HINT, ...risks.map(riskText), this.#advice]
      return `${product} ${version}, database "${database}", logged in as ${user}. ${notes.join(' ').trimEnd()}`
    }, ends))
  }

  async close () {
    const pool = this.#pool
    this.#pool = null
    if (!pool) return
    const timer = new AbortController()
    const [ended, passed] = [Promise.allSettled([pool.end()]), Promise.allSettled([sleep(CLOSE_TIMEOUT_MS, undefined, timer)])]
    await Promise.race([ended, passed])
    timer.abort()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #connect () {
    try {
      this.#pool ??= this.#open()
      return await this.#pool.getConnection()
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** What holds on a connection, which is set up when it is new. @param {Connection} connection */
  async #factsOf (connection) {
    const known = this.#facts.get(connection.connection)
    if (known) return known
    try {
      const found = await startSession(connection)
      const facts = { ...found, localInfile: found.localInfile && !this.#refusesFiles }
      this.#facts.set(connection.connection, facts)
      this.#sayOf(facts)
      return facts
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** @param {unknown} error */
  #failure (error) {
    const reason = orPasswordMissing(error, this.place, this.#options, NO_PASSWORD)
    return connectError(`${this.place}, database "${this.#options.database}"`, reason, FIXES)
  }

  #open () {
    const { host, port, connections } = this.#options
    const stream = () => {
      const socket = openSocket(host, port)
      this.#sockets.add(socket)
      return socket.once('close', () => this.#sockets.delete(socket))
    }
    const pool = mysql.createPool({ ...connectionOptions(this.#options), stream, connectionLimit: connections })
    // A connection in use also reports its end by the statement that it ends.
    pool.on('connection', (/** @type {any} */ connection) => {
      connection.on('error', () => {})
      this.#watch.over(connection.stream, () => connection._command && !connection._paused)
    })
    return pool
  }

  /** @param {Facts} facts */
  #sayOf ({ localInfile, risks }) {
    for (const text of [...localInfile ? [] : [LOCAL_INFILE_HINT], ...risks.map(riskText), this.#advice]) {
      if (text === '' || this.#said.has(text)) continue
      this.#said.add(text)
      this.#log?.warn(`${this.place}: ${text}`)
    }
  }

  /** @param {Connection} connection */
  #breakOff (connection) {
    socketOf(connection).destroy()
    this.#kill(connection.threadId)
  }

  /** Ends what the server does on a connection that was broken off: it notices by itself only when it next sends. @param {number} thread */
  async #kill (thread) {
    try {
      const connection = await mysql.createConnection(connectionOptions(this.#options))
      connection.on('error', () => {})
      this.#watch.over(socketOf(/** @type {any} */ (connection)), () => true)
      try {
        await connection.query(`KILL CONNECTION ${Number(thread)}`)
      } finally {
        await connection.end()
      }
    } catch (error) {
      if (/** @type {any} */ (error).errno === NO_SUCH_THREAD) return
      this.#log?.warn(`${this.place}: a statement that was broken off may still run there: ${describe(error)}`)
    }
  }
}

/** @param {Connection} connection @returns {import('node:net').Socket} */
export function socketOf (connection) {
  return /** @type {any} */ (connection.connection).stream
}

/** @param {string} risk */
function riskText (risk) {
  return `A crash of its machine can lose what has been committed: ${risk}.`
}

/**
 * After an error, unless that is the rows', a connection is given up: a new one may have more rights, and other settings.
 * @param {Connection} connection
 * @param {unknown} error
 */
async function giveBack (connection, error) {
  const isGood = await connection.query('ROLLBACK').then(() => !isTransient(error), () => false)
  if (isGood) connection.release()
  else connection.destroy()
}
