import { setTimeout as sleep } from 'node:timers/promises'
import { withDefaults } from '../../base/defaults.js'
import { SluiceError } from '../../base/errors.js'
import { connectError, passwordMissing, reasonOf } from '../connecting/failure.js'
import { testInTime } from '../connecting/limits.js'
import { plainTextAdvice } from '../connecting/tls.js'
import { AnswerError, basicLogin, HttpClient } from '../http.js'
import { exactJson } from '../influxdb/influxql.js'
import { schema } from './connection.schema.js'

export { schema }

/** @type {import('../connecting/failure.js').Fixes} */
const FIXES = [[/before secure TLS connection/, 'Check the port and whether the server expects TLS there.']]

/**
 * @typedef {object} QuestdbOptions
 * @property {string} host
 * @property {number} port
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {number} connections
 */

const SILENCE_MS = 60_000

/** How the server says that a table was never finished: it lacks what every write begins with. */
const HALF_MADE = /write error: (.+?), errno: 2, error: could not open [^[]*\[file=[^\]]*txn_seq/

/** How the server says that its disk is full, and what of that is another number each time, as if it were another error. */
const NO_ROOM = /errno: 28\b/
const NUMBERS = / \[size=\d+, fd=\d+\]/g

/** How long to wait before looking again whether what was acknowledged can be read. */
const APPLY_PAUSE_MS = 5

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new QuestdbServer(/** @type {QuestdbOptions} */ (withDefaults(schema, options)))
}

/** One server, by HTTP. Each error says which server, and what to do. */
export class QuestdbServer {
  #options
  /** @type {HttpClient|null} */
  #client = null
  /** Their ids, as they were found last. @type {Map<string, number>} */
  #tables = new Map()

  /** @param {QuestdbOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `QuestDB at ${this.#options.host}:${this.#options.port}` }

  /**
   * Writes lines, which the server has in its log when this resolves.
   * @param {import('../http.js').Body} lines
   * @param {AbortSignal} [signal]
   */
  async write (lines, signal) {
    await this.#ask({ path: '/write?precision=n', headers: { 'content-type': 'text/plain; charset=utf-8' }, body: lines, signal })
  }

  /**
   * @param {string} statement  SQL
   * @param {AbortSignal} [signal]
   * @returns {Promise<any[][]>} rows; whole numbers that a double does not hold are BigInt
   */
  async query (statement, signal) {
    const answer = await this.#ask({ method: 'GET', path: `/exec?${new URLSearchParams({ query: statement })}`, signal })
    return exactJson(answer.text.replaceAll('\0', '\\u0000')).dataset ?? [] // the server escapes all else
  }

  /**
   * Resolves once all that the server had acknowledged for a table can be read.
   * @param {string} table
   * @param {AbortSignal} [signal]
   * @throws {SluiceError} where the server does not go on by itself
   */
  async settled (table, signal) {
    const look = 'SELECT suspended, writerTxn, sequencerTxn FROM wal_tables() WHERE name = ' + text(table)
    for (let wanted; ;) {
      const [[isSuspended, applied, last] = [false, 0, 0]] = await this.query(look, signal)
      wanted ??= last
      if (applied >= wanted) return
      if (isSuspended) throw this.suspended(table)
      await sleep(APPLY_PAUSE_MS, undefined, { signal })
    }
  }

  /** @param {string} table */
  suspended (table) {
    return new SluiceError('SLUICE_SINK_QUESTDB', `${this.place}: the table "${table}" is suspended: what is acknowledged is not stored.`, {
      fix: `Look into the server's log, make room on its disk, then run ALTER TABLE "${table}" RESUME WAL.`
    })
  }

  /**
   * Of a table that was made again, a connection that had written to the former one acknowledges lines, and loses them.
   * @param {string} table
   * @param {number} id
   */
  async found (table, id) {
    const before = this.#tables.get(table) ?? id
    this.#tables.set(table, id)
    if (id !== before) await this.close()
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, async ends => {
      const [[build]] = await this.query('SELECT build()', ends)
      const [[mode] = []] = await this.query('SELECT value FROM (SHOW PARAMETERS) WHERE property_path = \'cairo.commit.mode\'', ends)
      const { user } = this.#options
      const version = /QuestDB ([\d.]+)/.exec(build)?.[1] ?? 'of unknown version'
      const advice = mode === 'sync'
        ? ''
        : `The server acknowledges what its system has not written yet (cairo.commit.mode: ${mode ?? 'unknown'}): a power cut loses the ` +
          'last seconds. Set it to sync.'
      return [`QuestDB ${version}${user && `, logged in as "${user}"`}.`, advice, plainTextAdvice(this.#options)]
        .filter(sentence => sentence !== '').join(' ')
    })
  }

  async close () {
    this.#client?.close()
    this.#client = null
  }

  /** @param {import('../http.js').Request} request */
  async #ask (request) {
    const { user, password } = this.#options
    this.#client ??= new HttpClient({
      ...this.#options,
      authorization: user === '' ? '' : basicLogin(user, password),
      silenceMs: SILENCE_MS,
      repeats: true, // all that is written may be written again
      reasonIn
    })
    try {
      return await this.#client.ask(request)
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      throw this.#explain(error)
    }
  }

  /** @param {unknown} error */
  #explain (error) {
    if (error instanceof SluiceError) return error // of lines that cannot be written
    if (!(error instanceof AnswerError)) return connectError(this.place, error, FIXES)
    const { status } = error
    const { user, password } = this.#options
    if (status === 401 && password === '') return passwordMissing(error, this.place, { user })
    const [, table] = HALF_MADE.exec(error.message) ?? []
    if (table) {
      return new SluiceError('SLUICE_SINK_QUESTDB', `${this.place}: the table "${table}" is half-made, as by a server that was killed.`, {
        cause: error, fix: `If SELECT count() FROM "${table}" is 0, run DROP TABLE "${table}", whatever the answer: it is made again.`
      })
    }
    const [code, fix] = status === 401
      ? /** @type {const} */ (['SLUICE_SINK_CONNECT', 'Check user and password.'])
      : /** @type {const} */ (['SLUICE_SINK_QUESTDB', status === 403 ? 'Grant the right to read and write.' : roomIn(error.message)])
    return new SluiceError(code, `${this.place}: ${reasonOf(error).replace(NUMBERS, '')}.`, { cause: error, fix })
  }
}

/** A text in SQL. @param {string} value */
export function text (value) {
  return `'${value.replaceAll('\'', '\'\'')}'`
}

/** What to do where room is missing. @param {string} said */
function roomIn (said) {
  return NO_ROOM.test(said) ? 'Make room on the server\'s disk: what waits is stored then.' : undefined
}

/** Whether there is no such table. @param {any} error */
export function isMissing (error) {
  return error?.cause instanceof AnswerError && /table does not exist/i.test(error.cause.message)
}

/** @param {string} body */
function reasonIn (body) {
  try {
    const { error, message } = JSON.parse(body)
    return message ?? error ?? body
  } catch {
    return body.trim()
  }
}
