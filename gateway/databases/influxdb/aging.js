import { spanOf } from '../sql/aging.js'
import { rowsOf } from './connection.js'
import { quoteTable } from './influxql.js'

/**
 * Points that have become too old, in the measurements of a sink. What the server keeps only for a time, by a retention policy or the
 * period of a bucket, it removes by itself; Sluice changes neither, as other measurements are in them.
 *
 * @typedef {import('../sink.js').Span} Span
 * @typedef {import('./versions.js').Place} Place
 * @typedef {{measurement: string, sources: string[], oldest: bigint}} Aging
 */

export class AgingPoints {
  #server
  #names
  /** @type {Set<string>} */
  #sources = new Set()
  /** @type {Aging[]} */
  #measurements = []

  /** @param {import('./connection.js').InfluxdbServer} server @param {import('../names.js').TableNames} names */
  constructor (server, names) {
    this.#server = server
    this.#names = names
  }

  /** @param {{source: string}[]} all  batches or records */
  note (all) {
    for (const { source } of all) this.#sources.add(source)
  }

  /** @param {Place} rows @returns {Promise<Span|null>} */
  async span ({ database, policy }) {
    this.#measurements = []
    const spans = []
    for (const [measurement, sources] of Map.groupBy(this.#sources, source => this.#names.inRecords(source))) {
      const [oldest, newest] = await Promise.all(['ASC', 'DESC'].map(async order => {
        const one = `SELECT * FROM ${quoteTable(policy, measurement)} ORDER BY time ${order} LIMIT 1`
        return rowsOf(await this.#server.query(one, { database }))[0]?.time
      }))
      if (oldest === undefined) continue
      const span = { oldest: BigInt(oldest), newest: BigInt(newest) }
      spans.push(span)
      this.#measurements.push({ measurement, sources, oldest: span.oldest })
    }
    return spanOf(spans)
  }

  /**
   * @param {Place} rows
   * @param {bigint} before
   * @returns {Promise<number>} 0: the server does not tell
   */
  async removeBefore (rows, before) {
    for (const { measurement, sources, oldest } of this.#measurements) {
      if (oldest >= before) continue
      for (const source of this.#names.perSource ? [undefined] : sources) await this.#server.expire(rows, { measurement, source, before })
    }
    return 0
  }
}
