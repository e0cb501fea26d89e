import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../base/errors.js'
import { literal } from './quote.js'

/** @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer */

/** What was sent before a process or its connection ended may reach the server a little later. */
const ARRIVAL_MS = 50
const PATIENCE_MS = 2000
const GIVE_UP_MS = 30_000
const POLL_MS = 50

/**
 * The inserts of a sink that the server may still be running, found by query ids that begin with a hash of the table. They are waited for
 * before the table is read.
 */
export class RunningInserts {
  #server
  #prefix
  /** @type {Set<string>} sent by this process, without an answer */
  #lost = new Set()
  #areEarlierOver = false

  /** @param {ClickhouseServer} server @param {string} table  its template */
  constructor (server, table) {
    this.#server = server
    this.#prefix = `sluice-${createHash('sha256').update(JSON.stringify([server.database, table])).digest('hex').slice(0, 12)}-`
  }

  newId () {
    return this.#prefix + randomBytes(8).toString('hex')
  }

  /** @param {string} id */
  lose (id) {
    this.#lost.add(id)
  }

  get areOver () { return this.#areEarlierOver && this.#lost.size === 0 }

  /**
   * Waits for the end of the inserts that were lost, and, once, of those that an earlier process left; kills those that take long.
   * @throws {SluiceError} SLUICE_SINK_CLICKHOUSE
   */
  async end () {
    if (this.areOver) return
    const lost = [...this.#lost]
    const awaited = new Set(lost)
    for (const pauseMs of [0, ARRIVAL_MS]) {
      await sleep(pauseMs)
      for (const id of this.#areEarlierOver ? [] : await this.#list()) awaited.add(id)
    }
    if (awaited.size > 0) await this.#endOf(awaited)
    this.#areEarlierOver = true
    for (const id of lost) this.#lost.delete(id)
  }

  /** @param {Set<string>} awaited */
  async #endOf (awaited) {
    const startMs = performance.now()
    for (let isKilled = false; ; await sleep(POLL_MS)) {
      const running = (await this.#list()).filter(id => awaited.has(id))
      if (running.length === 0) return
      const waitedMs = performance.now() - startMs
      if (waitedMs > GIVE_UP_MS) {
        throw new SluiceError(
          'SLUICE_SINK_CLICKHOUSE',
          `${this.#server.place}: an insert whose outcome is not known is still running there (query ${running[0]}).`,
          { fix: 'Wait, or end it by KILL QUERY.' }
        )
      }
      if (waitedMs > PATIENCE_MS && !isKilled) {
        isKilled = true
        await this.#server.command(`KILL QUERY WHERE query_id IN (${running.map(literal).join(', ')}) ASYNC`)
          .catch(() => {}) // not everybody may
      }
    }
  }

  async #list () {
    const rows = await this.#server.query(`SELECT query_id FROM system.processes WHERE query_id LIKE ${literal(`${this.#prefix}%`)}`)
    return rows.map(([id]) => /** @type {string} */ (id))
  }
}
