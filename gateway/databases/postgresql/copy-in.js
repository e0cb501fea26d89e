/**
 * @typedef {import('./copy-encoder.js').CopyEncoder} CopyEncoder
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{sql: string, columns: import('../wide.js').PlacedColumn[], batches: Batch[]}} Copy  `sql` is a COPY … FROM STDIN (FORMAT
 *   binary)
 */

/**
 * Sends COPY statements, their rows and a closing statement without waiting for the server in between: one round trip for all of it.
 * The server takes the messages in turn; after an error it skips the rest of the statements, and drops rows that are still on their way.
 *
 * A query for `client.query()` of pg, by the interface that pg's own queries and pg-copy-streams have.
 */
export class CopyIn {
  #text
  #copies
  #encoder
  #ended = false
  /** @type {PromiseWithResolvers<void>} */
  #settle = Promise.withResolvers()
  /** @type {unknown} */
  #encodingError

  /**
   * @param {Copy[]} copies
   * @param {string} closing  what follows them: COMMIT, say
   * @param {CopyEncoder} encoder
   */
  constructor (copies, closing, encoder) {
    this.#text = [...copies.map(({ sql }) => sql), closing].join('; ')
    this.#copies = copies
    this.#encoder = encoder
  }

  /** Settles when the server has done all of it. @returns {Promise<void>} */
  get done () { return this.#settle.promise }

  /** @param {any} connection */
  submit (connection) {
    connection.query(this.#text)
    this.#send(connection).catch(error => {
      this.#encodingError = error
      connection.sendCopyFail('The rows could not be encoded.')
    })
  }

  handleCopyInResponse () {}

  handleCommandComplete () {}

  handleReadyForQuery () {
    this.#ended = true
    this.#settle.resolve()
  }

  /** @param {Error} error */
  handleError (error) {
    this.#ended = true
    this.#settle.reject(this.#encodingError ?? error)
  }

  /** @param {any} connection */
  async #send (connection) {
    let sent = Promise.resolve()
    for (const { columns, batches } of this.#copies) {
      for (const message of this.#encoder.messages(columns, batches)) {
        await sent
        if (this.#ended) return
        // A write that fails is reported by the connection, through handleError.
        sent = new Promise(resolve => connection.stream.write(message, () => resolve()))
      }
      await sent
      connection.endCopyFrom()
    }
  }
}
