import { randomBytes } from 'node:crypto'
import { identifier } from './quote.js'
import { nativeBlock } from './native.js'

/**
 * Tries rows out: inserts them into a temporary table that has the columns, defaults and constraints of the real one. It is gone with its
 * session.
 */
export class Probe {
  #server

  /** @param {import('./connection.js').ClickhouseServer} server */
  constructor (server) {
    this.#server = server
  }

  /** @param {import('./tables.js').Plan} plan @param {import('./native.js').Part[]} parts @param {AbortSignal} [signal] */
  async insert ({ table, columns }, parts, signal) {
    const name = `sluice_probe_${randomBytes(8).toString('hex')}`
    const asking = { session: name, signal }
    const { insertSettings } = await this.#server.dialect(signal)
    await this.#server.command(
      `CREATE TEMPORARY TABLE ${name} AS ${identifier(this.#server.database)}.${identifier(table)} ENGINE = Memory`,
      asking
    )
    try {
      const names = columns.map(column => identifier(column.name)).join(', ')
      await this.#server.insert(
        `INSERT INTO ${name} (${names}) FORMAT Native`,
        [nativeBlock(columns, parts)],
        { ...asking, queryId: name, settings: insertSettings }
      )
    } finally {
      await this.#server.command(`DROP TABLE IF EXISTS ${name}`, { session: name }).catch(() => {}) // the server drops it with the session
    }
  }
}
