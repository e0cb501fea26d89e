import { createHash } from 'node:crypto'
import { stringText } from '../../messages/codecs/line-protocol/names.js'
import { describe } from '../../base/errors.js'
import { mergedRecords } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { quoteTable } from './influxql.js'
import { isTransient, NotRefused } from './refused.js'
import { rowsOf } from './connection.js'

/**
 * Commit records: a point each in the measurement `sluice_commits`. Its time is the record's seq, and its tag `of` a hash of all else that
 * tells records apart, so that writing one again changes nothing; names are fields, which may hold any character. They are kept where
 * nothing is ever dropped.
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
    const columns = '"last", "policy", "sink_table", "gateway", "source", "epoch"'
    const series = await this.#server.query(`SELECT ${columns} FROM ${quoteTable(policy, COMMITS_TABLE)}`, { database })
    return rowsOf(series).map(row => {
      const { policy: ofRows, sink_table: table, gateway, source, epoch, time: seq, last } = row
      return { policy: ofRows, table, gateway, source, epoch, seq, last }
    })
  }

  /**
   * @param {CommitRecord[]} records
   * @param {AbortSignal} [signal]
   * @throws {import('../../base/errors.js').SluiceError} never a refusal of rows: they are stored already
   */
  async write (records, signal) {
    if (records.length === 0) return
    try {
      await this.#server.write(this.#place, records.map(lineOf).join(''), signal)
    } catch (error) {
      if (isTransient(error)) throw error
      throw new NotRefused(`Commit records: ${describe(error)}`, {
        cause: error, fix: 'Where records are kept, nothing may be dropped or have another type.'
      })
    }
  }

  /** @param {CommitRecord[]} records  those to merge @param {import('../sink.js').Head[]} heads */
  async merge (records, heads) {
    const merged = mergedRecords(records, heads).map(row => /** @type {CommitRecord} */ (row))
    await this.write(merged)
    // Only now: a record too many does no harm, and one too few does.
    for (const record of merged) await this.#server.forget(this.#place, hashOf(record), record.seq + 1, record.last)
  }
}

/** @param {CommitRecord} record */
function lineOf (record) {
  const { policy, table, gateway, source, epoch, seq, last } = record
  const names = Object.entries({ policy, sink_table: table, gateway, source, epoch })
    .map(([name, value]) => `,${name}=${stringText(value)}`).join('')
  return `${COMMITS_TABLE},of=${hashOf(record)} last=${last}i${names} ${seq}\n`
}

/** @param {CommitRecord} record */
function hashOf ({ policy, table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([policy, table, gateway, source, epoch])).digest('base64url')
}
