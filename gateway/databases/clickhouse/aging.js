import { setTimeout as sleep } from 'node:timers/promises'
import { spanOf } from '../recorded/aging.js'
import { EPOCH_COLUMN, timeLiteral } from './dialect.js'
import { identifier, literal } from './quote.js'

/**
 * Rows that have become too old. They are the proof that their batches are stored, so the table of commit records gets that before they go:
 * a TTL of the server's would take the proof with them.
 *
 * @typedef {import('../sink.js').Span} Span
 * @typedef {{table: string, own: string, oldest: bigint}} Aging  `own`: which of its rows are this sink's, as a condition
 * @typedef {(table: string, condition: string, work: (epochs: string[]) => Promise<void>) => Promise<void>} Recorded  does the work, which
 *   may remove rows of these epochs, once the records of all batches with such rows are in their table, and while nothing is stored
 */

/** A deletion rewrites all parts of a table that it finds rows in: there are to be few of them. */
const MIN_ROWS = 1_000_000

const POLL_MS = 100
/** The server goes on by itself. */
const GIVE_UP_MS = 60_000

export class AgingRows {
  #server
  #tableOf
  #perSource
  /** @type {Set<string>} */
  #sources = new Set()
  /** @type {Aging[]} */
  #tables = []

  /**
   * @param {import('./connection.js').ClickhouseServer} server
   * @param {{perSource: boolean}} names
   * @param {(source: string) => string|null} tableOf  null where the database cannot have that table
   */
  constructor (server, { perSource }, tableOf) {
    this.#server = server
    this.#perSource = perSource
    this.#tableOf = tableOf
  }

  /** @param {{source: string}[]} all  batches or records */
  note (all) {
    for (const { source } of all) this.#sources.add(source)
  }

  /** @returns {Promise<Span|null>} */
  async span () {
    this.#tables = []
    const spans = []
    for (const [table, sources] of Map.groupBy(this.#sources, source => this.#tableOf(source))) {
      if (table === null || !await this.#exists(table)) continue
      const own = this.#perSource ? '1' : `source IN (${sources.map(literal).join(', ')})`
      const time = await this.#time()
      const [[rows, oldest, newest]] = await this.#server.query(
        `SELECT count(), min(${time}), max(${time}) FROM ${identifier(table)} WHERE ${own}`
      )
      if (rows === '0') continue
      spans.push({ oldest: BigInt(oldest), newest: BigInt(newest) })
      this.#tables.push({ table, own, oldest: BigInt(oldest) })
    }
    return spanOf(spans)
  }

  /**
   * @param {bigint} before
   * @param {number} maxRows
   * @param {Recorded} recorded
   * @returns {Promise<number>} how many rows
   */
  async removeBefore (before, maxRows, recorded) {
    let removed = 0
    for (const aging of this.#tables.filter(({ oldest }) => oldest < before)) {
      if (removed >= maxRows) break
      const wanted = Math.max(MIN_ROWS, maxRows)
      const its = await this.#removeFrom(aging, before, wanted, recorded)
      if (its < wanted) this.#tables.splice(this.#tables.indexOf(aging), 1)
      removed += its
    }
    return removed
  }

  /** @param {Aging} aging @param {bigint} before @param {number} maxRows @param {Recorded} recorded */
  async #removeFrom ({ table, own }, before, maxRows, recorded) {
    const [time, { plain }] = [await this.#time(), await this.#server.dialect()]
    const old = `SELECT ${time} AS ns FROM ${identifier(table)} WHERE ${own} AND ${time} < ${before}`
    const [[rows, last]] = await this.#server.query(`SELECT count(), max(ns) FROM (${old} ORDER BY ns LIMIT ${maxRows})`)
    if (rows === '0') return 0
    const condition = `${own} AND time <= ${timeLiteral(BigInt(last), plain)} AND ${time} <= ${last}`
    await recorded(table, condition, epochs => this.#server.command(
      `ALTER TABLE ${identifier(table)} DELETE WHERE ${condition} AND ${EPOCH_COLUMN} IN (${['0', ...epochs].join(', ')})`
    ))
    if (!await this.#isDone(table)) return 0
    const [[left]] = await this.#server.query(`SELECT count() FROM ${identifier(table)} WHERE ${condition}`)
    return Number(rows) - Number(left)
  }

  /** The time of a row in nanoseconds, in SQL. */
  async #time () {
    return (await this.#server.dialect()).plain ? 'time_ns' : 'toUnixTimestamp64Nano(time)'
  }

  /** @param {string} table */
  async #exists (table) {
    const found = `database = currentDatabase() AND table = ${literal(table)} AND name = ${literal(EPOCH_COLUMN)}`
    return (await this.#server.query(`SELECT 1 FROM system.columns WHERE ${found}`)).length > 0
  }

  /** Whether its deletions have come to their end. @param {string} table */
  async #isDone (table) {
    const running = `SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = ${literal(table)} AND is_done = 0`
    for (const endMs = performance.now() + GIVE_UP_MS; performance.now() < endMs; await sleep(POLL_MS)) {
      if ((await this.#server.query(running))[0][0] === '0') return true
    }
    return false
  }
}
