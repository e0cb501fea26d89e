import { decide, wantedRecords } from '../claims.js'
import { committedRecords, recordKey } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { tableNames } from '../names.js'
import { isRefusal, RefusedRows } from '../refusal.js'
import { SeldomCheck } from '../seldom-check.js'
import { LastRecords, setBack } from '../set-back.js'
import { Placement } from '../recorded/placement.js'
import { columnsOf } from '../sql/tables.js'
import { misfit } from '../wide.js'
import { AgingRows } from './aging.js'
import { nameRules } from './dialect.js'
import { isAnswer, isRefused } from './errors.js'
import { gaps, nativeBlock } from './native.js'
import { Probe } from './probe.js'
import { RunningInserts } from './running.js'
import { schema } from './sink.schema.js'
import { recordNumbers, Stored } from './stored.js'
import { prepareTable } from './tables.js'
import { Tokens } from './tokens.js'
import { KeyedLock } from './keyed-lock.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('./stored.js').Claim} Claim
 * @typedef {{arranged: Batch, plan: Plan}} Place  where the rows of a batch go, arranged for it
 */

/** The rows of one insert are one block in the server's memory; a single batch may be larger. */
const MAX_INSERT_ROWS = 1_000_000

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, isRefused)
}

/**
 * Connects when it is first needed, and again after an error: a sink whose server is not there yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server: ClickhouseServer, log?: import('../../base/log.js').Log}} context
 * @returns {Promise<Sink>}
 */
export async function open (options, { server, log }) {
  return new ClickhouseSink(withDefaults(schema, options), server, log)
}

/**
 * An insert of one block into a table without partitions is stored as a whole or not at all, and its rows name their batches. So
 * the sink asks the table what it holds and leaves that out: when it meets an epoch for the first time, and after an insert whose outcome
 * it does not know, once that insert has ended.
 * @implements {Sink}
 */
class ClickhouseSink {
  #layout
  #server
  #log
  /** @type {Placement<Plan>} */
  #placement
  #stored
  #running
  #aging
  #probe
  #tokens = new Tokens()
  #lock = new KeyedLock()
  #last = new LastRecords()
  #check = new SeldomCheck()
  /** @type {Set<string>} tables whose doubts have been logged */
  #doubted = new Set()
  #hasRecords = false

  /** @param {Record<string, any>} options @param {ClickhouseServer} server @param {import('../../base/log.js').Log} [log] */
  constructor (options, server, log) {
    this.#layout = options.layout
    this.#placement = new Placement(/** @type {any} */ (options), tableNames(options.table, nameRules))
    this.#server = server
    this.#log = log
    this.#stored = new Stored(server, source => this.#tableOf(source))
    this.#running = new RunningInserts(server, options.table)
    this.#aging = new AgingRows(server, this.#placement.names, source => this.#tableOf(source))
    this.#probe = new Probe(server)
  }

  /** @type {Sink['prepare']} */
  async prepare (batches, { forMs } = {}) {
    if (this.#hasRecords && this.#placement.covers(batches)) return []
    return this.#attempt(() => this.#placement.prepare(batches, this.#find, forMs))
  }

  preparing () { return this.#placement.progress }

  async committed () {
    return this.#attempt(() => this.#lock.alone(async () => {
      await this.#running.end()
      const before = this.#last.all
      const { store, rows } = await this.#stored.read(row => this.#placement.owns(row))
      return { store, records: committedRecords(rows), isSetBack: this.#last.read(before, rows) }
    }))
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    signal?.throwIfAborted()
    this.#aging.note(batches)
    return this.#attempt(async () => {
      const places = await this.#placement.of(batches, this.#find)
      if (!probe) return this.#store(batches, places, signal)
      for (const { plan, arranged } of places.values()) {
        await this.#probe.insert(plan, [{ batch: arranged, epoch: 0n, seq: 0, record: [] }], signal)
      }
      return { duplicates: [], clashes: [] }
    })
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt(() => this.#stored.compact(heads))
  }

  /** @type {NonNullable<Sink['span']>} */
  async span () {
    return this.#attempt(async () => {
      this.#aging.note((await this.#stored.streams()).filter(stream => this.#placement.owns(stream)))
      return this.#aging.span()
    })
  }

  /** @type {NonNullable<Sink['removeBefore']>} */
  async removeBefore (before, { maxRows }) {
    return this.#attempt(() => this.#aging.removeBefore(before, maxRows, (table, condition, work) => this.#lock.alone(async () => {
      await this.#running.end()
      await this.#stored.read(row => this.#placement.owns(row))
      await work(await this.#stored.leave(table, condition))
    })))
  }

  /** The connections are the server's. */
  async close () {}

  /** @param {Batch[]} batches @param {Map<Batch, Place>} places @param {AbortSignal} [signal] */
  async #store (batches, places, signal) {
    const wanted = wantedRecords(batches, source => this.#placement.names.inRecords(source))
    const claims = [...wanted.values()]
    const keys = [...wanted.keys()]
    for (let busy; (busy = this.#lock.busyWith(keys) ?? this.#unsettled(claims));) {
      await busy
      signal?.throwIfAborted()
    }
    const { fresh, duplicates, clashes, records } = decide(batches, wanted, claim => this.#stored.find(claim))
    await this.#lock.together(keys, async () => {
      const found = this.#check.isDue(duplicates.length + clashes.length > 0) ? this.#last.all : []
      const missing = found.length > 0 ? await this.#stored.missing(found) : []
      if (missing.length > 0) {
        this.#last.forget(missing)
        throw setBack(`${this.#server.place}, database "${this.#server.database}"`)
      }
      await this.#insertAll(fresh, places, new Map(records.map(record => [recordKey(record), record])), signal)
      this.#last.committed(found, records)
    })
    return { duplicates, clashes }
  }

  /** What must be asked before it is known which of these are stored; null when it is known. @param {Claim[]} claims */
  #unsettled (claims) {
    if (this.#running.areOver && claims.every(claim => this.#stored.isKnown(claim))) return null
    return this.#lock.alone(async () => {
      await this.#running.end()
      await this.#stored.learn(claims)
    })
  }

  /**
   * @param {Batch[]} batches
   * @param {Map<Batch, Place>} places
   * @param {Map<string, CommitRow>} records  by key
   * @param {AbortSignal} [signal]
   */
  async #insertAll (batches, places, records, signal) {
    const faults = batches.flatMap(batch => {
      const place = places.get(batch)
      return place ? missingValues(batch, place) : []
    })
    if (faults.length > 0) throw new RefusedRows(faults)
    /** @type {Batch[][]} */
    const groups = []
    for (const its of Map.groupBy(batches.filter(batch => places.has(batch)), batch => places.get(batch)?.plan).values()) {
      let rows = Infinity
      for (const batch of its) {
        rows += batch.rows
        if (rows > MAX_INSERT_ROWS) {
          groups.push([])
          rows = batch.rows
        }
        groups[groups.length - 1].push(batch)
      }
    }
    const recordOf = (/** @type {Batch} */ { identity }) => identity && records.get(recordKey(identity))
    const withRows = new Set(groups.flat().map(recordOf))
    const withoutRows = [...records.values()].filter(record => !withRows.has(record))
    const inserts = groups.map(group => this.#insert(group, places, recordOf, signal))
    const results = await Promise.allSettled([this.#stored.record(withoutRows), ...inserts])
    const failed = results.find(({ status }) => status === 'rejected')
    if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  }

  /**
   * Stores batches of one shape, as one block.
   * @param {Batch[]} batches
   * @param {Map<Batch, Place>} places
   * @param {(batch: Batch) => (CommitRow & {time?: bigint})|null|undefined} recordOf
   * @param {AbortSignal} [signal]
   */
  async #insert (batches, places, recordOf, signal) {
    const { plan } = /** @type {Place} */ (places.get(batches[0]))
    const block = nativeBlock(plan.columns, batches.map(batch => {
      const record = recordOf(batch)
      const { arranged } = /** @type {Place} */ (places.get(batch))
      if (!record) return { batch: arranged, epoch: 0n, seq: 0, record: [] }
      record.time = arranged.time[0]
      return { batch: arranged, epoch: this.#stored.numberOf(record), seq: record.seq, record: recordNumbers(record) }
    }))
    const { plain, insertSettings } = await this.#server.dialect(signal)
    const queryId = this.#running.newId()
    try {
      await this.#server.insert(plan.insertSql, [block], {
        queryId,
        settings: plain ? insertSettings : { ...insertSettings, insert_deduplication_token: this.#tokens.of(batches) },
        signal
      })
    } catch (error) {
      // Also of an insert that the server refuses, something may be stored: when it fails in what follows from it, a materialized view.
      if (!isAnswer(error)) this.#running.lose(queryId)
      this.#stored.forget()
      throw error
    }
    this.#tokens.drop(batches)
    this.#stored.add(batches.flatMap(batch => recordOf(batch) ?? []))
  }

  /** @type {import('../recorded/placement.js').Find<Plan>} */
  #find = async (name, arranged) => {
    const wanted = columnsOf(arranged, await this.#server.dialect(), !this.#placement.names.perSource, this.#layout)
    const plan = await prepareTable(this.#server, name, wanted, { layout: this.#layout, isChosen: !this.#placement.names.perSource })
    this.#doubt(plan)
    return plan
  }

  /** @param {Plan} plan */
  #doubt ({ table, doubt }) {
    if (doubt === null || this.#doubted.has(table)) return
    this.#doubted.add(table)
    this.#log?.warn(`Table "${table}" stores at least once, not exactly once: ${doubt}.`)
  }

  /** @param {string} source */
  #tableOf (source) {
    try {
      return this.#placement.names.of(source)
    } catch {
      return null
    }
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (work) {
    try {
      if (!this.#hasRecords) await this.#stored.prepare()
      this.#hasRecords = true
      return await work()
    } catch (error) {
      if (isTransient(error)) this.#forgetTables()
      throw error
    }
  }

  /** They may have been dropped or changed. */
  #forgetTables () {
    this.#placement.forget()
    this.#stored.forget()
    this.#hasRecords = false
  }
}

/** The rows that a column without NULL cannot hold. @param {Batch} batch @param {Place} place */
function missingValues (batch, { arranged, plan }) {
  const found = gaps(plan.columns, arranged)
  if (found.size === 0) return []
  const error = (/** @type {string|undefined} */ column) =>
    misfit(plan.table, `its column "${column}" accepts no NULL, and the value is missing`, 'Make the column Nullable, or send a value.')
  // Of another layout, the rows are not those that were given.
  if (arranged !== batch) throw error([...found.values()][0])
  return Array.from(found, ([row, column]) => ({ batch, row, error: error(column) }))
}
