import pg from 'pg'

/**
 * Logs in by SCRAM only, or where no password is asked for. To a request for the password itself, or its MD5 hash, anyone could listen who
 * answers in the server's place.
 */
export class ScramClient extends pg.Client {
  _handleAuthCleartextPassword () {
    this.#refuse('asks for the password in plain text')
  }

  _handleAuthMD5Password () {
    this.#refuse('asks for an MD5 hash of the password')
  }

  /** @param {string} what */
  #refuse (what) {
    const { connection } = /** @type {any} */ (this)
    connection.stream.destroy(new Error(`the server ${what}, without TLS`))
  }
}
