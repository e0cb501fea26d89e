import { promisify } from 'node:util'

/** Of one request: the driver counts them in 16 bits, and throws where nobody catches when there are more. */
const MAX_ROWS = 10_000

/** How many prepared statements a session keeps. */
const MAX_STATEMENTS = 50

/**
 * A connection of the driver, as promises.
 *
 * @typedef {any} Client  of hdb, which has no types
 */
export class Session {
  #client
  /** @type {Map<string, any>} */
  #statements = new Map()
  /** Rejects when the connection ends: the driver may then answer no call that is under way. @type {PromiseWithResolvers<never>} */
  #ended = Promise.withResolvers()
  /** Whether it can be used no more. */
  isBroken = false

  /** @param {Client} client  connected @param {(session: Session) => void} giveBack */
  constructor (client, giveBack) {
    this.#client = client
    answerForEnded(client._connection)
    this.release = () => giveBack(this)
    for (const event of ['error', 'close']) {
      client.on(event, (/** @type {unknown} */ error) => {
        this.isBroken = true
        this.#ended.reject(error instanceof Error ? error : new Error('the connection was closed'))
      })
    }
    this.#ended.promise.catch(() => {})
  }

  /** @param {string} sql  that returns no rows */
  async run (sql) {
    await this.#call(this.#client, 'exec', sql)
  }

  /** @param {string} sql @param {(string|number)[]} [values] @returns {Promise<Record<string, any>[]>} */
  async rows (sql, values = []) {
    return values.length === 0 ? this.#call(this.#client, 'exec', sql) : this.#call(await this.#prepared(sql), 'exec', values)
  }

  /** Rows as they come, as arrays. @param {string} sql @param {(string|number)[]} values @returns {AsyncGenerator<any[], void, void>} */
  async * stream (sql, values) {
    const results = await this.#call(await this.#prepared(sql), 'execute', values, { rowsAsArray: true })
    let isOver = false
    try {
      const rows = results.createObjectStream()
      this.#ended.promise.catch(error => rows.destroy(error))
      yield * rows
      isOver = true
    } finally {
      if (!isOver && !this.isBroken) await this.#call(results, 'close')
    }
  }

  /**
   * Binds arrays: one request for as many rows as it holds.
   * @param {string} sql @param {unknown[][]} rows  at least one
   * @returns {Promise<number>} how many rows were affected
   */
  async each (sql, rows) {
    let affected = 0
    for (let from = 0; from < rows.length; from += MAX_ROWS) {
      const counts = await this.#call(await this.#prepared(sql), 'exec', rows.slice(from, from + MAX_ROWS))
      affected += [counts].flat().reduce((sum, count) => sum + count, 0)
    }
    return affected
  }

  begin () {
    this.#client.setAutoCommit(false)
  }

  async commit () {
    await this.#call(this.#client, 'commit')
    this.#client.setAutoCommit(true)
  }

  async rollback () {
    await this.#call(this.#client, 'rollback')
    this.#client.setAutoCommit(true)
  }

  /** Ends what is under way. */
  destroy () {
    this.isBroken = true
    this.#client.destroy()
  }

  /** @param {string} sql @returns {Promise<any>} */
  async #prepared (sql) {
    const known = this.#statements.get(sql)
    if (known) return known
    const [oldest] = this.#statements.keys()
    if (this.#statements.size >= MAX_STATEMENTS) {
      await this.#call(this.#statements.get(oldest), 'drop')
      this.#statements.delete(oldest)
    }
    const statement = await this.#call(this.#client, 'prepare', sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** @param {any} of @param {string} method @param {any[]} given @returns {Promise<any>} */
  async #call (of, method, ...given) {
    return Promise.race([promisify(of[method]).call(of, ...given), this.#ended.promise])
  }
}

/**
 * Where a connection ends while the driver prepares what to send on it, the driver throws where nobody catches: that would end the process.
 * @param {any} connection  the driver's own
 */
function answerForEnded (connection) {
  const { send } = connection
  connection.send = (/** @type {unknown} */ message, /** @type {(error: unknown) => void} */ receive) => {
    try {
      send.call(connection, message, receive)
    } catch (error) {
      receive(error)
    }
  }
}
