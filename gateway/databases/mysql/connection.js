import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { connectError, connectionOptions, openSocket, placeOf } from './login.js'
import { isTransient } from './refused.js'
import { schema } from './connection.schema.js'
import { startSession } from './session.js'

export { schema }

/**
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./session.js').Facts} Facts
 * @typedef {import('./login.js').ServerOptions} ServerOptions
 */

const TEST_TIMEOUT_MS = 14_000

/** A server that does not answer does not say goodbye either. */
const CLOSE_TIMEOUT_MS = 2000

const LOCAL_INFILE_HINT = 'It does not allow LOAD DATA LOCAL: rows go by INSERT, which is slower; local_infile=1 among the server\'s settings allows it.'

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: import('../../base/log.js').Log}} [context]
 */
export function connect (options, { log } = {}) {
  return new MysqlServer(/** @type {ServerOptions} */ (withDefaults(schema, options)), log)
}

/** Connections to one server, made when needed. One that fails is given up, and the next use makes a new one. */
export class MysqlServer {
  #options
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
  #readers

  /** @param {ServerOptions} options @param {import('../../base/log.js').Log} [log] */
  constructor (options, log) {
    this.#options = options
    this.#log = log
    this.#readers = new Turns(Math.max(1, options.connections - 1))
  }

  /**
   * Lends a connection. What the work leaves uncommitted when it fails is rolled back.
   * @template T
   * @param {(connection: Connection, facts: Facts) => Promise<T>} work
   * @param {AbortSignal} [signal]  breaks the connection off, and ends what the server does on it
   * @returns {Promise<T>}
   * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_CONNECT
   */
  async use (work, signal) {
    signal?.throwIfAborted()
    const connection = await this.#lend(signal)
    const breakOff = () => {
      /** @type {any} */ (connection.connection).stream.destroy()
      this.#kill(connection.threadId)
    }
    signal?.addEventListener('abort', breakOff)
    try {
      signal?.throwIfAborted()
      const result = await work(connection, await this.#factsOf(connection))
      connection.release()
      return result
    } catch (error) {
      await giveBack(connection, error)
      throw signal?.aborted ? signal.reason : error
    } finally {
      signal?.removeEventListener('abort', breakOff)
    }
  }

  /**
   * Lends a connection to a query, which may be read slowly: queries never have all of them, so that sinks go on.
   * @type {MysqlServer['use']}
   */
  read (work, signal) {
    return this.#readers.run(() => this.use(work, signal), signal)
  }

  /** For messages. */
  get place () { return `MySQL at ${placeOf(this.#options.host, this.#options.port)}` }

  /** Says that LOAD DATA LOCAL was refused: from now on `facts.localInfile` is false. */
  refuseFiles () {
    this.#refusesFiles = true
    this.#facts = new WeakMap()
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    const silent = Object.assign(new Error(`no answer within ${TEST_TIMEOUT_MS / 1000} s`), { code: 'ETIMEDOUT' })
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(connectError(this.#options, silent)), TEST_TIMEOUT_MS)
    const told = this.use(async (connection, { product, version, localInfile, risks }) => {
      const [[{ database, user }]] = /** @type {[any[], any]} */ (await connection.query('SELECT DATABASE() AS `database`, CURRENT_USER() AS user'))
      const notes = [localInfile ? 'LOAD DATA LOCAL is allowed: the fast way.' : LOCAL_INFILE_HINT, ...risks.map(riskText)]
      return `${product} ${version}, database "${database}", logged in as ${user}. ${notes.join(' ')}`
    }, signal ? AbortSignal.any([signal, late.signal]) : late.signal)
    return told.finally(() => clearTimeout(timer))
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

  /** @param {AbortSignal} [signal] */
  async #lend (signal) {
    /** @type {Promise<Connection>|undefined} */
    let lent
    try {
      this.#pool ??= this.#open()
      lent = this.#pool.getConnection()
      return await (signal ? unlessAborted(lent, signal) : lent)
    } catch (error) {
      if (!signal?.aborted) throw connectError(this.#options, error)
      lent?.then(connection => connection.release(), () => {})
      throw signal.reason
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
      throw connectError(this.#options, error)
    }
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
    pool.on('connection', connection => connection.on('error', () => {}))
    return pool
  }

  /** @param {Facts} facts */
  #sayOf ({ localInfile, risks }) {
    for (const text of [...localInfile ? [] : [LOCAL_INFILE_HINT], ...risks.map(riskText)]) {
      if (this.#said.has(text)) continue
      this.#said.add(text)
      this.#log?.warn(`${this.place}: ${text}`)
    }
  }

  /** Ends what the server does on a connection that was broken off: it notices by itself only when it next sends. @param {number} thread */
  async #kill (thread) {
    try {
      const connection = await mysql.createConnection(connectionOptions(this.#options))
      connection.on('error', () => {})
      await connection.query(`KILL CONNECTION ${Number(thread)}`)
      await connection.end()
    } catch (error) {
      if (/** @type {any} */ (error).errno !== NO_SUCH_THREAD) this.#log?.warn(`${this.place}: a statement that was broken off may still run there: ${describe(error)}`)
    }
  }
}

const NO_SUCH_THREAD = 1094

/** @template T @param {Promise<T>} work @param {AbortSignal} signal @returns {Promise<T>} */
function unlessAborted (work, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
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
