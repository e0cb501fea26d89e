import { createHash } from 'node:crypto'
import { RangeSet } from '../../batch/ranges.js'
import { EPOCH_COLUMN, SEQ_COLUMN } from './dialect.js'
import { ServerError } from './errors.js'
import { COMMITS_TABLE } from '../names.js'
import { identifier, literal } from './quote.js'

/**
 * What a sink's tables hold: which seqs of which epochs. The rows themselves contain it, as an epoch's number and a seq; the commit
 * records add the names behind each number, the batches of no rows, and what has been compacted.
 *
 * @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer
 * @typedef {import('../../batch/batch.js').Identity} Identity
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {Omit<CommitRow, 'seq'|'last'>} EpochName
 *
 * @typedef {object} Epoch  of one table
 * @property {EpochName} name
 * @property {bigint} number
 * @property {RangeSet} stored
 * @property {RangeSet} recorded  those of them in the commit records
 * @property {boolean} isNamed  there is a record of it
 */

/**
 * Of a table that is not there, or has no such columns: UNKNOWN_TABLE, NO_SUCH_COLUMN_IN_TABLE, NOT_FOUND_COLUMN_IN_BLOCK,
 * UNKNOWN_IDENTIFIER.
 */
const NOT_THERE = [60, 16, 10, 47]

/** A query has only so many bytes. */
const MAX_CONDITIONS = 500

const NAMES = 'sink_table, gateway, source, epoch, number, seq, last'

export class Stored {
  #server
  #tableOf
  /** @type {Map<string, Epoch>} by table, gateway, source and epoch; those that have been asked for */
  #epochs = new Map()

  /**
   * @param {ClickhouseServer} server
   * @param {(source: string) => string|null} tableOf  null where the database cannot have that table
   */
  constructor (server, tableOf) {
    this.#server = server
    this.#tableOf = tableOf
  }

  /** Creates the table of the records where it is missing. */
  async prepare () {
    const { durable } = await this.#server.dialect()
    // Who may not create tables may still use one that is there.
    const condition = `database = currentDatabase() AND name = ${literal(COMMITS_TABLE)}`
    const found = await this.#server.query(`SELECT 1 FROM system.tables WHERE ${condition}`)
    if (found.length > 0) return
    const columns = 'sink_table String, gateway String, source String, epoch String, number Int64, seq Int64, last Int64'
    await this.#server.command(`CREATE TABLE IF NOT EXISTS ${COMMITS_TABLE} (${columns}) ` +
      `ENGINE = ReplacingMergeTree(last) ORDER BY (sink_table, gateway, source, epoch, seq)${durable && ` SETTINGS ${durable}`}`)
  }

  /** @param {EpochName} name */
  isKnown (name) {
    return this.#epochs.has(keyOf(name))
  }

  /** @param {CommitRow|(EpochName & {seq: number})} batch  of an epoch that is known */
  has (batch) {
    return this.#epochs.get(keyOf(batch))?.stored.has(batch.seq) ?? false
  }

  /** @param {(EpochName & {seq: number})[]} batches */
  add (batches) {
    for (const batch of batches) this.#epochs.get(keyOf(batch))?.stored.add(batch.seq)
  }

  forget () {
    this.#epochs.clear()
  }

  /** Asks what is stored of epochs, and leaves a record of the names of new ones. @param {EpochName[]} names */
  async learn (names) {
    const unknown = new Map(names.filter(name => !this.isKnown(name)).map(name => [keyOf(name), newEpoch(name)]))
    const epochs = [...unknown.values()]
    if (epochs.length === 0) return
    const rows = await this.#records(`number IN (${epochs.map(({ number }) => number).join(', ')})`)
    await this.#fill(unknown, rows)
    const unnamed = epochs.filter(({ isNamed }) => !isNamed)
    await this.#write(unnamed.map(epoch => ({ epoch, seq: 0, last: -1 })))
    for (const [key, epoch] of unknown) this.#epochs.set(key, epoch)
  }

  /** Asks for all epochs. @param {(name: EpochName) => boolean} isOwn @returns {Promise<CommitRow[]>} */
  async read (isOwn) {
    const rows = (await this.#records('1')).filter(isOwn)
    const epochs = new Map(rows.map(row => [keyOf(row), newEpoch(row)]))
    await this.#fill(epochs, rows)
    this.#epochs = epochs
    return [...epochs.values()].flatMap(({ name, stored }) => stored.ranges.map(([seq, last]) => ({ ...name, seq, last })))
  }

  /** Leaves records of batches of no rows. @param {(EpochName & {seq: number})[]} batches  of epochs that are known */
  async record (batches) {
    await this.#write(batches.flatMap(batch => {
      const epoch = this.#epochs.get(keyOf(batch))
      return epoch ? { epoch, seq: batch.seq, last: batch.seq } : []
    }))
  }

  /**
   * Leaves records of what lies below `first`, so that those rows need not be read again.
   * @param {(name: EpochName) => number} firstHeld
   */
  async compact (firstHeld) {
    await this.#write([...this.#epochs.values()].flatMap(epoch => epoch.stored.ranges
      .map(([seq, last]) => ({ epoch, seq, last: Math.min(last, firstHeld(epoch.name) - 1) }))
      .filter(({ seq, last }) => last >= seq && epoch.recorded.missing(seq, last).length > 0)))
  }

  /** The rows' number of an epoch. @param {EpochName} name */
  numberOf (name) {
    return this.#epochs.get(keyOf(name))?.number ?? newEpoch(name).number
  }

  /** @param {string} condition @returns {Promise<(CommitRow & {number: bigint})[]>} */
  async #records (condition) {
    const rows = await this.#server.query(`SELECT ${NAMES} FROM ${COMMITS_TABLE} WHERE ${condition}`)
    return rows.map(([table, gateway, source, epoch, number, seq, last]) => ({
      table,
      gateway,
      source,
      epoch,
      number: BigInt(number),
      seq: Number(seq),
      last: Number(last)
    }))
  }

  /** @param {Map<string, Epoch>} epochs @param {CommitRow[]} records */
  async #fill (epochs, records) {
    for (const record of records) {
      const epoch = epochs.get(keyOf(record))
      if (!epoch) continue
      epoch.isNamed = true
      epoch.recorded.add(record.seq, record.last)
      epoch.stored.add(record.seq, record.last)
    }
    const bySource = Map.groupBy(epochs.values(), ({ name }) => name.source)
    const byTable = Map.groupBy(bySource.keys(), source => this.#tableOf(source))
    await Promise.all([...byTable].map(async ([table, sources]) => {
      if (table === null) return
      const its = new Map(sources.flatMap(source => bySource.get(source) ?? []).map(epoch => [epoch.number, epoch]))
      for (const [number, seqs] of await this.#rowsOf(table, [...its.values()])) {
        const { stored } = /** @type {Epoch} */ (its.get(BigInt(number)))
        for (const seq of JSON.parse(seqs).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)) stored.add(seq)
      }
    }))
  }

  /**
   * What the rows contain beyond the records.
   * @param {string} table
   * @param {Epoch[]} epochs
   * @returns {Promise<[string, string][]>} number and seqs
   */
  async #rowsOf (table, epochs) {
    const known = epochs.flatMap(({ number, recorded }) => recorded.ranges.map(([seq, last]) => ({ number, seq, last })))
      .sort((a, b) => (b.last - b.seq) - (a.last - a.seq))
    const beyond = known.slice(0, MAX_CONDITIONS)
      .map(({ number, seq, last }) => ` AND NOT (${EPOCH_COLUMN} = ${number} AND ${SEQ_COLUMN} >= ${seq} AND ${SEQ_COLUMN} <= ${last})`)
    try {
      const rows = await this.#server.query(`SELECT ${EPOCH_COLUMN}, groupUniqArray(${SEQ_COLUMN}) FROM ${identifier(table)} ` +
        `WHERE ${EPOCH_COLUMN} IN (${epochs.map(({ number }) => number).join(', ')})${beyond.join('')} GROUP BY ${EPOCH_COLUMN}`)
      return /** @type {any} */ (rows)
    } catch (error) {
      const { cause } = /** @type {Error} */ (error)
      if (cause instanceof ServerError && NOT_THERE.includes(cause.number)) return []
      throw error
    }
  }

  /** @param {{epoch: Epoch, seq: number, last: number}[]} rows */
  async #write (rows) {
    if (rows.length === 0) return
    const values = rows.map(({ epoch: { name, number }, seq, last }) =>
      `(${[name.table, name.gateway, name.source, name.epoch].map(literal).join(', ')}, ${number}, ${seq}, ${last})`)
    const { insertSettings } = await this.#server.dialect()
    await this.#server.command(`INSERT INTO ${COMMITS_TABLE} (${NAMES}) VALUES ${values.join(', ')}`, { settings: insertSettings })
    for (const { epoch, seq, last } of rows) {
      epoch.recorded.add(seq, last)
      epoch.stored.add(seq, last)
    }
  }
}

/** @param {EpochName} name @returns {Epoch} */
function newEpoch ({ table, gateway, source, epoch }) {
  const hash = createHash('sha256').update(JSON.stringify([gateway, source, epoch])).digest()
  // 0 is of rows without identity.
  return {
    name: { table, gateway, source, epoch },
    number: hash.readBigInt64LE() || 1n,
    stored: new RangeSet(),
    recorded: new RangeSet(),
    isNamed: false
  }
}

/** One string, whatever the parts contain. @param {EpochName} name */
function keyOf ({ table, gateway, source, epoch }) {
  return JSON.stringify([table, gateway, source, epoch])
}
