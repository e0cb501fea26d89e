import { setTimeout as sleep } from 'node:timers/promises'
import { withDefaults } from '../../base/defaults.js'
import { SluiceError } from '../../base/errors.js'
import { connectError, passwordMissing, reasonOf } from '../connecting/failure.js'
import { orAborted, testInTime } from '../connecting/limits.js'
import { plainTextAdvice } from '../connecting/tls.js'
import { schema } from './connection.schema.js'
import { CallError, LoginError, Wire } from './wire.js'

export { schema }

/**
 * @typedef {import('./protocol.js').Parameter} Parameter
 * @typedef {import('./wire.js').Address} VoltdbOptions
 */

/** @type {import('../connecting/failure.js').Fixes} */
const FIXES = ['ECONNRESET', /before secure TLS connection/].map(sign => [sign, 'Check the port and whether the server expects TLS there.'])

/** How often, and after which pause, a statement is tried while others change tables: each change takes some 50 ms. */
const OTHERS_CHANGE = /while another one is in progress|planned against the current catalog version/i
const ATTEMPTS = 100
const PAUSE_MS = 50

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new VoltdbServer(/** @type {VoltdbOptions} */ (withDefaults(schema, options)))
}

/** One server, over one connection, which carries any number of calls at a time. Each error says which server, and what to do. */
export class VoltdbServer {
  #options
  /** @type {Promise<Wire>|null} */
  #wire = null
  /** @type {Wire|null} */
  #open = null

  /** @param {VoltdbOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `VoltDB at ${this.#options.host}:${this.#options.port}` }

  /**
   * A connection: where it is another than before, the server may be another, too, or has started anew without what it had.
   * @param {AbortSignal} [signal]
   */
  async session (signal) {
    if (this.#open?.isOpen === false) this.#wire = this.#open = null
    this.#wire ??= this.#connect()
    return new Session(await orAborted(this.#wire, signal), this.place)
  }

  /** @param {string} statement  SQL @param {Parameter[]} [parameters] @param {AbortSignal} [signal] @returns {Promise<any[][]>} rows */
  async query (statement, parameters = [], signal) {
    return (await this.session(signal)).query(statement, parameters, signal)
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, async ends => {
      const session = await this.session(ends)
      const version = /^[\d.]+/.exec(session.wire.version)?.[0] ?? 'of unknown version'
      const { user } = this.#options
      return [`VoltDB ${version}${user && `, logged in as "${user}"`}.`, await session.lossNotice(), plainTextAdvice(this.#options)]
        .filter(sentence => sentence !== '').join(' ')
    })
  }

  async close () {
    const wire = this.#wire
    this.#wire = null
    await wire?.then(its => its.close(), () => {})
  }

  async #connect () {
    const connecting = Wire.connect(this.#options)
    try {
      this.#open = await connecting
      return this.#open
    } catch (error) {
      this.#wire = null
      throw this.#explain(error)
    }
  }

  /** @param {unknown} error */
  #explain (error) {
    if (!(error instanceof LoginError)) return connectError(this.place, error, FIXES)
    const { user, password } = this.#options
    if (error.isWrong && password === '') return passwordMissing(error, this.place, { user })
    return new SluiceError('SLUICE_SINK_CONNECT', `${this.place}: ${reasonOf(error)}.`, {
      cause: error, fix: error.isWrong ? 'Check user and password.' : undefined
    })
  }
}

/** One connection of a server. */
export class Session {
  #place

  /** @param {Wire} wire @param {string} place */
  constructor (wire, place) {
    this.wire = wire
    this.#place = place
  }

  /** @param {string} procedure @param {Parameter[]} parameters @param {AbortSignal} [signal] */
  async call (procedure, parameters, signal) {
    try {
      return await orAborted(this.wire.call(procedure, parameters), signal)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (!(error instanceof CallError)) throw connectError(this.#place, error)
      throw new SluiceError('SLUICE_SINK_VOLTDB', `${this.#place}: ${reasonOf(error)}.`, { cause: error })
    }
  }

  /**
   * Is tried again where others change tables meanwhile: then nothing of it was done.
   * @param {string} statement  SQL, or several that change tables
   * @param {Parameter[]} [parameters]
   * @param {AbortSignal} [signal]
   * @returns {Promise<any[][]>} rows
   */
  async query (statement, parameters = [], signal) {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.call('@AdHoc', [statement, ...parameters], signal)).at(-1)?.rows ?? []
      } catch (error) {
        if (attempt === ATTEMPTS || !isRefused(error, OTHERS_CHANGE)) throw error
        await sleep(PAUSE_MS, undefined, { signal })
      }
    }
  }

  /** What a server that stops loses; empty where it loses nothing. */
  async lossNotice () {
    const [{ rows }] = await this.call('@SystemInformation', ['DEPLOYMENT'])
    const isLogged = rows.some(([name, value]) => name === 'commandlogenabled' && value === 'true')
    return isLogged ? '' : 'The server keeps no command log: when it stops, it loses what no snapshot holds.'
  }
}

/** Whether the server has refused a call with such words. @param {any} error @param {RegExp} words */
export function isRefused (error, words) {
  return error?.cause instanceof CallError && words.test(error.cause.message)
}
