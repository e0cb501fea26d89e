import { createHash } from 'node:crypto'
import { stringText } from '../../messages/codecs/line-protocol/names.js'
import { SluiceError, describe } from '../../base/errors.js'
import { mergedRecords } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { isRefusal } from '../refusal.js'
import { quoteTable } from './influxql.js'
import { isRowsFault } from './refused.js'
import { rowsOf } from './connection.js'

/**
 * Commit records: a point each in the measurement `sluice_commits`. Its time is the record's seq, and its tag `of` a hash of all else that
 * tells records
 * apart, so that writing one again changes nothing; names are fields, which may hold any character. They are kept where nothing is ever
 * dropped.
 *
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('./versions.js').Place} Place
 * @typedef {CommitRow & {policy: string}} CommitRecord  `policy` is the retention policy of the rows
 */
export class CommitRecords {
  #server
  #place

  /** @param {import('./connection.js').InfluxdbServer} server @param {Place} place */
  constructor (server, place) {
    this.#server = server
    this.#place = place
  }

  /** @returns {Promise<CommitRecord[]>} */
  async read () {
    const { database, policy } = this.#place
    const series = await this.#server.query(`SELECT "last", "policy", "sink_table", "gateway", "source", "epoch" FROM ${quoteTable(policy, COMMITS_TABLE)}`, { database })
    return rowsOf(series).map(row => ({ policy: row.policy, table: row.sink_table, gateway: row.gateway, source: row.source, epoch: row.epoch, seq: row.time, last: row.last }))
  }

  /**
   * @param {CommitRecord[]} records
   * @param {AbortSignal} [signal]
   * @throws {SluiceError} never of a kind that says the rows are at fault: they are stored already
   */
  async write (records, signal) {
    if (records.length === 0) return
    try {
      await this.#server.write(this.#place, records.map(lineOf).join(''), signal)
    } catch (error) {
      if (!isRefusal(error, isRowsFault)) throw error
      throw new SluiceError('SLUICE_SINK_INFLUXDB', `Commit records: ${describe(error)}`, { fix: 'Where records are kept, nothing may be dropped or have another type.' })
    }
  }

  /** @param {CommitRecord[]} records  those to merge @param {import('../sink.js').Head[]} heads */
  async merge (records, heads) {
    const merged = mergedRecords(records, heads).map(row => /** @type {CommitRecord} */ (row))
    await this.write(merged)
    // Only now, as a record too many does no harm, and one too few does.
    for (const record of merged) await this.#server.forget(this.#place, hashOf(record), record.seq + 1, record.last)
  }
}

/** @param {CommitRecord} record */
function lineOf (record) {
  const { policy, table, gateway, source, epoch, seq, last } = record
  const names = Object.entries({ policy, sink_table: table, gateway, source, epoch }).map(([name, value]) => `,${name}=${stringText(value)}`).join('')
  return `${COMMITS_TABLE},of=${hashOf(record)} last=${last}i${names} ${seq}\n`
}

/** @param {CommitRecord} record */
function hashOf ({ policy, table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([policy, table, gateway, source, epoch])).digest('base64url')
}
