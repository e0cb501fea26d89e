/**
 * @typedef {{close: () => Promise<void>}} Closable
 * @typedef {import('../../gateway/databases/sink.js').Sink} Sink
 */

/**
 * What a test opens in its database is closed after it, the sink before its server.
 * @template {Closable} Server
 */
export class TestDatabase {
  #room
  /** @type {Closable[]} */
  #opened = []

  /**
   * @param {{connect: (options: any, context?: any) => Server, open: (options: any, context: {server: Server}) => Promise<Sink>}} room
   *   the database's own functions
   */
  constructor (room) {
    this.#room = room
  }

  /** Those with which the server of the test is reached. @returns {object} */
  get options () { throw new Error('each database has its own') }

  /** @param {object} [options]  of the server @param {object} [context] */
  connect = (options, context) => this.keep(this.#room.connect({ ...this.options, ...options }, context))

  /** @param {object} [options]  of the sink and of the server */
  openSink = async options => this.keep(await this.#room.open({ ...options }, { server: this.connect(options) }))

  /** @template {Closable} Kept @param {Kept} kept */
  keep (kept) {
    this.#opened.unshift(kept)
    return kept
  }

  async closeOpened () {
    for (const each of this.#opened.splice(0)) await each.close()
  }
}

/** As the contracts have values: numbers where they are safe, bytes as hexadecimal text. @param {any} value */
export function plain (value) {
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : value
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : value
}
