import { createHash } from 'node:crypto'
import { stringText } from '../../messages/codecs/line-protocol/names.js'
import { describe } from '../../base/errors.js'
import { RECORD_NUMBERS, storeRecord } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { oldRecords } from '../old-records.js'
import { quoteTable } from './influxql.js'
import { isTransient, NotRefused } from './refused.js'
import { rowsOf } from './connection.js'

/**
 * Commit records: a point each in the measurement `sluice_commits`. Its time is the record's seq, and its tag `of` a hash of all else that
 * tells records apart, so that writing one again changes nothing; names are fields, which may hold any character. They are kept where
 * nothing is ever dropped.
 *
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('./versions.js').Place} Place
 * @typedef {CommitRow & {policy: string}} CommitRecord  `policy` is the retention policy of the rows
 */

const [, ...NUMBERS] = RECORD_NUMBERS

/** A record that is being written may lack some of its fields when it is looked at; one of Sluice 0.1 lacks them for ever. */
const LOOKS = 5

/** The series of the database's id. */
const STORE = 'store'

export class CommitRecords {
  #server
  #place

  /** @param {import('./connection.js').InfluxdbServer} server @param {Place} place */
  constructor (server, place) {
    this.#server = server
    this.#place = place
  }

  /** The database's id has no table. @returns {Promise<CommitRecord[]>} */
  async read () {
    for (let looks = 1; ; looks++) {
      const records = await this.#look()
      if (records.every(({ hash, before }) => hash !== null && before !== null)) return records
      if (looks === LOOKS) throw oldRecords(this.#server.place)
    }
  }

  async #look () {
    const { database, policy } = this.#place
    const columns = [...NUMBERS, 'policy', 'sink_table', 'gateway', 'source', 'epoch'].map(name => `"${name}"`).join(', ')
    const series = await this.#server.query(`SELECT ${columns} FROM ${quoteTable(policy, COMMITS_TABLE)}`, { database })
    return rowsOf(series).map(row => {
      const { time: seq, policy: ofRows, sink_table: table, gateway, source, epoch, last, hash, staged, stored, dead, before } = row
      return { policy: ofRows, table, gateway, source, epoch, seq, last, hash, staged, stored, dead, before }
    })
  }

  /** @param {string} id  of the database */
  async nameStore (id) {
    await this.#server.write(this.#place, lineOf(STORE, { policy: '', ...storeRecord(id) }))
  }

  /**
   * The records of those that have one.
   * @param {Claim[]} claims
   * @param {string} policy  of the rows
   * @returns {Promise<CommitRecord[]>}
   */
  async find (claims, policy) {
    const { database, policy: own } = this.#place
    const found = await Promise.all(claims.map(async claim => {
      const [row] = rowsOf(await this.#server.query(
        `SELECT ${NUMBERS.map(name => `"${name}"`).join(', ')} FROM ${quoteTable(own, COMMITS_TABLE)} ` +
        `WHERE "of" = '${hashOf({ ...claim, policy })}' AND time <= ${claim.seq} ORDER BY time DESC LIMIT 1`,
        { database }
      ))
      if (!row) return []
      const { time: seq, last, hash, staged, stored, dead, before } = row
      return [{ ...claim, policy, seq, last, hash, staged, stored, dead, before }]
    }))
    return found.flat()
  }

  /**
   * @param {CommitRecord[]} records
   * @param {AbortSignal} [signal]
   * @throws {import('../../base/errors.js').SluiceError} never a refusal of rows: they are stored already
   */
  async write (records, signal) {
    if (records.length === 0) return
    try {
      await this.#server.write(this.#place, records.map(record => lineOf(hashOf(record), record)).join(''), signal)
    } catch (error) {
      if (isTransient(error)) throw error
      throw new NotRefused(`Commit records: ${describe(error)}`, {
        cause: error, fix: 'Where records are kept, nothing may be dropped or have another type.'
      })
    }
  }

  /** @param {CommitRecord[]} merged */
  async merge (merged) {
    await this.write(merged)
    for (const record of merged) await this.#server.forget(this.#place, hashOf(record), record.seq + 1, record.last)
  }
}

/** @param {string} of @param {CommitRecord} record */
function lineOf (of, record) {
  const { policy, table, gateway, source, epoch } = record
  const names = Object.entries({ policy, sink_table: table, gateway, source, epoch })
    .map(([name, value]) => `,${name}=${stringText(value)}`).join('')
  return `${COMMITS_TABLE},of=${of} ${NUMBERS.map(name => `${name}=${record[name]}i`).join(',')}${names} ${record.seq}\n`
}

/** @param {import('../commit-records.js').Stream & {policy: string}} of */
function hashOf ({ policy, table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([policy, table, gateway, source, epoch])).digest('base64url')
}
