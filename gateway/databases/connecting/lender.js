import { Turns } from '../../base/turns.js'
import { orAborted } from './limits.js'

/**
 * What a database's pool of connections must do to be lent from.
 * @template {{release: () => void}} C
 * @typedef {object} Pool
 * @property {() => Promise<C>} connect  a free connection; rejects with SLUICE_SINK_CONNECT
 * @property {(connection: C) => void} breakOff  ends what is under way on it
 * @property {(connection: C, error: unknown) => Promise<void>} giveBack  after an error, with what is uncommitted rolled back
 */

/**
 * Lends connections, as many at a time as there are.
 * @template {{release: () => void}} C
 */
export class Lender {
  #pool
  #turns
  #readers
  /** @type {Set<C>} */
  #lent = new Set()

  /** @param {number} connections @param {Pool<C>} pool */
  constructor (connections, pool) {
    this.#pool = pool
    this.#turns = new Turns(connections)
    this.#readers = new Turns(Math.max(1, connections - 1))
  }

  /**
   * Lends a connection, once one is free. What the work leaves uncommitted when it fails is rolled back.
   * @template T
   * @param {(connection: C) => Promise<T>} work
   * @param {AbortSignal} [signal]  breaks the connection off
   * @returns {Promise<T>}
   */
  use (work, signal) {
    return this.#turns.run(() => this.#lend(work, signal), signal)
  }

  /**
   * Lends a connection to a query, which may be read slowly: queries never have all of them, so that sinks go on.
   * @type {Lender<C>['use']}
   */
  read (work, signal) {
    return this.#readers.run(() => this.use(work, signal), signal)
  }

  /** Breaks off what is still lent. */
  breakOff () {
    for (const connection of this.#lent) this.#pool.breakOff(connection)
  }

  /** @type {Lender<C>['use']} */
  async #lend (work, signal) {
    const connection = await this.#connect(signal)
    const breakOff = () => this.#pool.breakOff(connection)
    this.#lent.add(connection)
    signal?.addEventListener('abort', breakOff)
    try {
      signal?.throwIfAborted()
      const result = await work(connection)
      connection.release()
      return result
    } catch (error) {
      await this.#pool.giveBack(connection, error)
      throw signal?.aborted ? signal.reason : error
    } finally {
      signal?.removeEventListener('abort', breakOff)
      this.#lent.delete(connection)
    }
  }

  /** @param {AbortSignal} [signal] */
  async #connect (signal) {
    const connecting = this.#pool.connect()
    try {
      return await orAborted(connecting, signal)
    } catch (error) {
      if (signal?.aborted) connecting.then(connection => connection.release(), () => {}) // nobody waits for it any more
      throw signal?.aborted ? signal.reason : error
    }
  }
}
