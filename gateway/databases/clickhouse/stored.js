import { createHash, randomUUID } from 'node:crypto'
import { RangeSet } from '../../batch/ranges.js'
import { RECORD_NUMBERS, streamKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { oldRecords } from '../old-records.js'
import { RecordSet } from '../record-set.js'
import { BATCH_COLUMN, EPOCH_COLUMN, SEQ_COLUMN, timeLiteral } from './dialect.js'
import { ServerError } from './errors.js'
import { identifier, literal } from './quote.js'

/**
 * What a sink's tables hold. The rows themselves contain it, as an epoch's number, a seq, and in one row of each batch the rest of its
 * commit record; the table of commit records adds the names behind each number, the batches of no rows, and what has been compacted.
 *
 * @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../commit-records.js').Stream} Stream
 * @typedef {import('../claims.js').Claim & {time?: bigint}} Claim  `time` of a row of the batch, where it is known
 */

/**
 * Of a table that is not there, or has no such columns: UNKNOWN_TABLE, NO_SUCH_COLUMN_IN_TABLE, NOT_FOUND_COLUMN_IN_BLOCK,
 * UNKNOWN_IDENTIFIER.
 */
const NOT_THERE = [60, 16, 10, 47]

/** A query has only so many bytes. */
const MAX_CONDITIONS = 500

const NAMES = `sink_table, gateway, source, epoch, number, ${RECORD_NUMBERS.join(', ')}`

const NO_SUMS = { hash: 0, staged: 0, stored: 0, dead: 0, before: 0 }

export class Stored {
  #server
  #tableOf
  /** The rows' numbers of those that have been asked for. @type {Map<string, bigint>} */
  #known = new Map()
  #records = new RecordSet()
  /** Those of them in the table of commit records. */
  #left = new RecordSet()

  /**
   * @param {ClickhouseServer} server
   * @param {(source: string) => string|null} tableOf  null where the database cannot have that table
   */
  constructor (server, tableOf) {
    this.#server = server
    this.#tableOf = tableOf
  }

  /** Creates the table of the records where it is missing: of several that do so at once, the id of one becomes the database's. */
  async prepare () {
    const { durable } = await this.#server.dialect()
    // Who may not create tables may still use one that is there.
    const columns = await this.#columns()
    if (columns.has('store')) return
    if (columns.size > 0) throw oldRecords(this.#server.place)
    const numbers = ['number', ...RECORD_NUMBERS].map(name => `${name} Int64`).join(', ')
    await this.#server.command(
      `CREATE TABLE IF NOT EXISTS ${COMMITS_TABLE} (sink_table String, gateway String, source String, epoch String, ${numbers}, ` +
      `store String DEFAULT ${literal(randomUUID())}) ENGINE = ReplacingMergeTree(last) ` +
      `ORDER BY (sink_table, gateway, source, epoch, seq)${durable && ` SETTINGS ${durable}`}`
    )
  }

  /** @param {Stream} stream */
  isKnown (stream) {
    return this.#known.has(streamKey(stream))
  }

  /** @param {Claim} claim  of a stream that is known */
  find (claim) {
    return this.#records.find(claim)
  }

  /** @param {CommitRow[]} records  whose rows have been stored */
  add (records) {
    for (const record of records) if (this.isKnown(record)) this.#records.add(record)
  }

  forget () {
    this.#known.clear()
    this.#records = new RecordSet()
    this.#left = new RecordSet()
  }

  /** Asks what is stored of streams, and leaves a record of the names of new ones. @param {Stream[]} streams */
  async learn (streams) {
    const unknown = new Map(streams.filter(stream => !this.isKnown(stream)).map(stream => [streamKey(stream), stream]))
    if (unknown.size === 0) return
    const rows = await this.#recordsOf([...unknown.values()])
    const named = new Set(rows.map(streamKey))
    const left = rows.filter(row => unknown.has(streamKey(row)))
    await this.#fill([...unknown.values()], left)
    await this.#write([...unknown].flatMap(([key, { table, gateway, source, epoch }]) =>
      named.has(key) ? [] : { table, gateway, source, epoch, seq: 0, last: -1, ...NO_SUMS }))
    for (const [key, stream] of unknown) this.#known.set(key, numberOf(stream))
  }

  /** The rows' number of an epoch. @param {Stream} stream */
  numberOf (stream) {
    return this.#known.get(streamKey(stream)) ?? numberOf(stream)
  }

  /**
   * Asks for all.
   * @param {(stream: Stream) => boolean} isOwn
   * @returns {Promise<{store: string, rows: CommitRow[]}>} `store`: the id of the database
   */
  async read (isOwn) {
    const [columns, all] = await Promise.all([this.#columns(), this.#recordRows('1')])
    const rows = all.filter(isOwn)
    const streams = new Map(rows.map(row => [streamKey(row), row]))
    this.forget()
    await this.#fill([...streams.values()], rows)
    for (const [key, stream] of streams) this.#known.set(key, numberOf(stream))
    return { store: columns.get('store')?.replaceAll('\'', '') ?? '', rows: this.#records.rows }
  }

  /** Leaves records of batches of no rows. @param {CommitRow[]} records  of streams that are known */
  async record (records) {
    await this.#write(records)
    this.add(records)
  }

  /**
   * Leaves records of what lies below what spools hold, so that those rows need not be read again.
   * @param {import('../sink.js').Head[]} heads
   */
  async compact (heads) {
    const firstHeld = new Map(heads.map(({ gateway, source, epoch, first }) => [JSON.stringify([gateway, source, epoch]), first]))
    this.#records.compact(heads, () => true)
    await this.#write(this.#records.rows.filter(row => {
      const { gateway, source, epoch, last } = row
      return last < (firstHeld.get(JSON.stringify([gateway, source, epoch])) ?? Infinity) && !(Number(this.#left.find(row)?.last) >= last)
    }))
  }

  /** Those that have records. @returns {Promise<{table: string, source: string}[]>} */
  async streams () {
    const rows = await this.#server.query(`SELECT DISTINCT sink_table, source FROM ${COMMITS_TABLE}`)
    return rows.map(([table, source]) => ({ table, source }))
  }

  /**
   * Leaves records of all batches that have rows of a condition: those may go then. `read` has just asked for all.
   * @param {string} table
   * @param {string} condition
   * @returns {Promise<string[]>} the numbers of their epochs; what has no name here is somebody else's
   */
  async leave (table, condition) {
    const found = await this.#server.query(`SELECT DISTINCT ${EPOCH_COLUMN}, ${SEQ_COLUMN} FROM ${identifier(table)} WHERE ${condition}`)
    const going = new Set(found.map(([number, seq]) => `${number} ${seq}`))
    const isGoing = (/** @type {CommitRow} */ row) => going.has(`${this.numberOf(row)} ${row.seq}`)
    await this.#write(this.#records.rows.filter(row => isGoing(row) && !this.#left.find(row)))
    const named = new Set(Array.from(this.#known.values(), String))
    return [...new Set(found.map(([number]) => /** @type {string} */ (number)))].filter(number => named.has(number))
  }

  /**
   * Those of which the database has nothing any more.
   * @template {Claim} C
   * @param {C[]} claims
   */
  async missing (claims) {
    const { timed = [], others = [] } = Object.groupBy(claims, ({ time }) => time === undefined ? 'others' : 'timed')
    const found = new RecordSet()
    const without = (/** @type {C[]} */ some) => some.filter(claim => !found.find(claim))
    for (const row of await this.#rowsLeftOf(timed)) found.add(row)
    if (without(claims).length > 0) for (const row of await this.#recordsOf(without(claims))) found.add(row)
    for (const row of await this.#rowsLeftOf(without(others))) found.add(row)
    return without(claims)
  }

  /** @param {Claim[]} claims @returns {Promise<CommitRow[]>} */
  async #rowsLeftOf (claims) {
    const found = await Promise.all([...Map.groupBy(claims, ({ source }) => this.#tableOf(source))].map(async ([table, its]) => {
      if (table === null) return []
      const byNumber = Map.groupBy(its, numberOf)
      const condition = [...byNumber].map(([number, some]) =>
        `(${EPOCH_COLUMN} = ${number} AND ${SEQ_COLUMN} IN (${some.map(({ seq }) => seq).join(', ')}))`).join(' OR ')
      const rows = await this.#ifThere(`SELECT ${EPOCH_COLUMN}, ${SEQ_COLUMN} FROM ${identifier(table)} ` +
        `WHERE (${condition})${await this.#within(its)} GROUP BY ${EPOCH_COLUMN}, ${SEQ_COLUMN}`)
      return rows.map(([number, seq]) => {
        const [claim] = /** @type {Claim[]} */ (byNumber.get(BigInt(number)))
        return { ...claim, seq: Number(seq), last: Number(seq), ...NO_SUMS }
      })
    }))
    return found.flat()
  }

  /** The times of the claims' rows, where they are known, as a condition: tables are sorted by time. @param {Claim[]} claims */
  async #within (claims) {
    const times = claims.flatMap(({ time }) => time ?? [])
    if (times.length === 0) return ''
    const { plain } = await this.#server.dialect()
    const [from, to] = [times.reduce((a, b) => a < b ? a : b), times.reduce((a, b) => a > b ? a : b)]
    return ` AND time >= ${timeLiteral(from, plain)} AND time <= ${timeLiteral(to, plain)}`
  }

  /** @param {Stream[]} streams */
  #recordsOf (streams) {
    return this.#recordRows(`number IN (${streams.map(numberOf).join(', ')})`)
  }

  /** @param {string} condition @returns {Promise<CommitRow[]>} */
  async #recordRows (condition) {
    const rows = await this.#server.query(`SELECT ${NAMES} FROM ${COMMITS_TABLE} WHERE ${condition}`)
    return rows.map(([table, gateway, source, epoch, _number, ...numbers]) => {
      const [seq, last, hash, staged, stored, dead, before] = numbers.map(Number)
      return { table, gateway, source, epoch, seq, last, hash, staged, stored, dead, before }
    })
  }

  /** @param {Stream[]} streams @param {CommitRow[]} left */
  async #fill (streams, left) {
    for (const row of left) {
      if (row.last < row.seq) continue
      this.#left.add(row)
      this.#records.add(row)
    }
    const byTable = Map.groupBy(streams, ({ source }) => this.#tableOf(source))
    await Promise.all([...byTable].map(async ([table, its]) => {
      if (table === null) return
      const byNumber = new Map(its.map(stream => [numberOf(stream), stream]))
      for (const [number, seq, record, count] of await this.#rowsOf(table, byNumber, left)) {
        const { table: inRecords, gateway, source, epoch } = /** @type {Stream} */ (byNumber.get(BigInt(number)))
        const claim = { table: inRecords, gateway, source, epoch, seq: Number(seq) }
        if (!this.#records.find(claim)) this.#records.add({ ...claim, last: claim.seq, ...sumsIn(record, Number(count)) })
      }
    }))
  }

  /**
   * What the rows contain beyond the records.
   * @param {string} table
   * @param {Map<bigint, Stream>} streams  by number
   * @param {CommitRow[]} left
   */
  async #rowsOf (table, streams, left) {
    const recorded = Map.groupBy(left, streamKey)
    const known = [...streams].flatMap(([number, stream]) => {
      const ranges = recorded.get(streamKey(stream))?.map(({ seq, last }) => /** @type {[number, number]} */ ([seq, last]))
      return new RangeSet(ranges).ranges.map(range => ({ number, range }))
    }).sort(({ range: a }, { range: b }) => (b[1] - b[0]) - (a[1] - a[0]))
    const beyond = known.slice(0, MAX_CONDITIONS).map(({ number, range: [seq, last] }) =>
      ` AND NOT (${EPOCH_COLUMN} = ${number} AND ${SEQ_COLUMN} >= ${seq} AND ${SEQ_COLUMN} <= ${last})`)
    return this.#ifThere(`SELECT ${EPOCH_COLUMN}, ${SEQ_COLUMN}, groupArrayArray(${BATCH_COLUMN}), count() FROM ${identifier(table)} ` +
      `WHERE ${EPOCH_COLUMN} IN (${[...streams.keys()].join(', ')})${beyond.join('')} GROUP BY ${EPOCH_COLUMN}, ${SEQ_COLUMN}`)
  }

  /** The rows of a query of a table; none where that is missing. @param {string} sql */
  async #ifThere (sql) {
    try {
      return await this.#server.query(sql)
    } catch (error) {
      const { cause } = /** @type {Error} */ (error)
      if (cause instanceof ServerError && NOT_THERE.includes(cause.number)) return []
      throw error
    }
  }

  /** Those of the table of commit records, with their defaults. @returns {Promise<Map<string, string>>} */
  async #columns () {
    const condition = `database = currentDatabase() AND table = ${literal(COMMITS_TABLE)}`
    return new Map(/** @type {any} */ (await this.#server.query(`SELECT name, default_expression FROM system.columns WHERE ${condition}`)))
  }

  /** @param {CommitRow[]} rows */
  async #write (rows) {
    if (rows.length === 0) return
    const values = rows.map(row => {
      const names = [row.table, row.gateway, row.source, row.epoch].map(literal)
      return `(${[...names, numberOf(row), ...RECORD_NUMBERS.map(name => row[name])].join(', ')})`
    })
    const { insertSettings } = await this.#server.dialect()
    await this.#server.command(`INSERT INTO ${COMMITS_TABLE} (${NAMES}) VALUES ${values.join(', ')}`, { settings: insertSettings })
    for (const row of rows) if (row.last >= row.seq) this.#left.add(row)
  }
}

/** The rows' number of an epoch; 0 is of rows without identity. @param {Omit<Stream, 'table'>} stream */
function numberOf ({ gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([gateway, source, epoch])).digest().readBigInt64LE() || 1n
}

/** What one row of a batch holds of its commit record. @param {CommitRow} record */
export function recordNumbers ({ hash, staged, stored, dead, before }) {
  return [hash, staged, stored, dead, before]
}

/** @param {string} text  those numbers, none where that row was deleted @param {number} count  of the others */
function sumsIn (text, count) {
  const [hash = 0, staged = count, stored = count, dead = 0, before = 0] = JSON.parse(text)
  return { hash, staged, stored, dead, before }
}
