import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, SluiceError } from '../../base/errors.js'
import { wantedRecords } from '../claims.js'
import { committedRecords, mergedRecords } from '../commit-records.js'
import { tableNames } from '../names.js'
import { LastRecords, SET_BACK, setBack } from '../set-back.js'
import { checkKey } from '../upsert/layout.js'
import { noteArrivals, refuseKeyless } from '../upsert/rows.js'
import { AgingTables } from './aging.js'
import { Placement } from './placement.js'

/**
 * What all sinks have in common that keep their commit records beside the rows. How rows and records are written, a `Storage` knows: in a
 * transaction, see `sql/sink.js`, or one after the other, see `keyed/sink.js`.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../claims.js').Decision} Decision
 */

/**
 * @template Plan
 * @typedef {object} Job  a write
 * @property {Batch[]} batches
 * @property {Map<string, CommitRow>} wanted  records, each batch once
 * @property {Claim[]} previous  records that must be there
 * @property {Map<Batch, {plan: Plan, arranged: Batch}>} places  of batches that have rows
 * @property {boolean} probe
 * @property {AbortSignal} [signal]
 */

/**
 * @template Session  a connection, and what belongs to it
 * @template Plan  where the rows of one shape of batch go
 * @typedef {object} CommonStorage
 * @property {import('../names.js').TableNames} [names]  unless those of the dialect
 * @property {import('./placement.js').Arrange} [arrange]  for layouts of its own
 * @property {number} [tablesAtOnce]  so many are looked for, and created: one, unless a session can do several things, and that is faster
 * @property {<T>(work: (session: Session) => Promise<T>, signal?: AbortSignal) => Promise<T>} use  lends a session, connecting when needed;
 *   rolls back what the work leaves uncommitted when it fails, and gives up a session that is no longer good
 * @property {(error: unknown) => boolean} isTransient
 * @property {`SLUICE_SINK_${string}`|((error: unknown, place: string) => SluiceError)} failure  the error that users see, with this one as
 *   its cause; or its code, where it needs no more
 * @property {(batches: Batch[]) => void} [check]  throws of rows that the database is known to refuse
 * @property {string} place  the database, for messages
 * @property {(session: Session) => Promise<void>} prepareCommits  creates the table of commit records where it is missing; throws
 *   SLUICE_SINK_RECORDS_OLD
 * @property {(session: Session) => Promise<CommitRow[]>} readCommits  all of them. One without a table has the database's id as its gateway
 * @property {(session: Session, id: string) => Promise<unknown>} nameStore  leaves that one where there is none
 * @property {boolean} [mayNameTwice]  it cannot tell, and leaves one where another has just done so; of several, the earliest counts
 * @property {(session: Session, merged: () => Promise<CommitRow[]>) => Promise<void>} compact  in a transaction during which nobody claims:
 *   puts each record that `merged` then returns in the place of those within it
 * @property {(session: Session, name: string, arranged: Batch, withSource: boolean) => Promise<Plan>} prepareTable  finds the place for the
 *   rows in the table of that name; creates what is missing; throws SLUICE_SINK_TABLE_MISFIT. `withSource`: several sources share the table
 * @property {(session: Session, name: string, withSource: boolean, sources: string[]) => Promise<import('./aging.js').AgingTable|null>}
 *   [agingTable]  the table in which `prepareTable` finds the place of these sources' rows, null where it is not there. None where the
 *   server removes by itself what is too old
 * @property {() => string} [notice]  see Sink
 * @property {() => Promise<void>} [close]  of what is the sink's own
 */

/**
 * @template Session
 * @template Plan
 * @typedef {CommonStorage<Session, Plan> & {
 *   dialect: import('../names.js').NameRules,
 *   write: (session: Session, job: Job<Plan>) => Promise<Decision & {found?: Claim[]}>
 * }} Storage  `write` stores what is new, and leaves its records. `found`: those of the previous records that it has looked for; unless
 *   given, all
 */

/** How many times as long as this one, at most, another takes that names the database at the same time; and how long anyway. */
const SLOWER = 4
const NAMING_MS = 100
/** A name that was left so lately may not be the only one. */
const NEW_MS = 2000

/**
 * Connects when it is first needed, and again after an error: a sink whose database is not there yet waits for it.
 * @template Session
 * @template Plan
 * @implements {Sink}
 */
export class RecordedSink {
  #options
  #storage
  /** @type {Placement<Plan>} */
  #placement
  #aging
  #hasCommits = false
  #last = new LastRecords()
  /** How often that has been found out: what was asked to be written before is refused, whatever it has waited for. */
  #setBacks = 0

  /** @param {Record<string, any>} options  of the sink @param {Storage<Session, Plan>} storage */
  constructor (options, storage) {
    checkKey(options)
    this.#options = options
    this.#storage = storage
    const names = storage.names ?? tableNames(options.table, storage.dialect)
    this.#placement = new Placement(/** @type {any} */ (options), names, storage)
    this.#aging = new AgingTables(this.#placement.names, storage)
  }

  /** @type {Sink['prepare']} */
  async prepare (batches, { forMs } = {}) {
    noteArrivals(batches, this.#options)
    if (this.#hasCommits && this.#placement.covers(batches)) return []
    return this.#attempt(session => this.#placement.prepare(batches, this.#finder(session), forMs))
  }

  preparing () { return this.#placement.progress }

  async committed () {
    try {
      return await this.#read()
    } catch (error) {
      // It is what a reading finds out.
      if (/** @type {any} */ (error).code !== SET_BACK) throw error
      return { ...await this.#read(), isSetBack: true }
    }
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    noteArrivals(batches, this.#options)
    this.#aging.note(batches)
    this.#storage.check?.(batches)
    refuseKeyless(batches, this.#options)
    const wanted = wantedRecords(batches, this.#placement.names.inRecords)
    const setBacks = this.#setBacks
    return this.#attempt(async session => {
      if (setBacks !== this.#setBacks) throw setBack(this.#storage.place)
      const places = await this.#placement.of(batches, this.#finder(session))
      const previous = this.#last.all
      const { found = previous, records, duplicates, clashes } =
        await this.#storage.write(session, { batches, wanted, previous, places, probe, signal })
      if (!probe) this.#last.committed(found, records)
      return { duplicates, clashes }
    }, signal)
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt(async session => {
      const merged = async () => mergedRecords(this.#own(await this.#storage.readCommits(session)), heads)
      if ((await merged()).length > 0) await this.#storage.compact(session, merged)
    })
  }

  /** @type {NonNullable<Sink['span']>} */
  async span () {
    return this.#attempt(async session => {
      this.#aging.note(this.#own(await this.#storage.readCommits(session)))
      return this.#aging.span(session)
    })
  }

  /** @type {NonNullable<Sink['removeBefore']>} */
  async removeBefore (before, { maxRows }) {
    return this.#attempt(session => this.#aging.removeBefore(session, before, maxRows))
  }

  notice () { return this.#storage.notice?.() ?? '' }

  async close () {
    await this.#storage.close?.()
  }

  async #read () {
    return this.#attempt(async session => {
      const before = this.#last.all
      const beganMs = performance.now()
      let rows = await this.#storage.readCommits(session)
      const isNamed = storeOf(rows) !== undefined
      if (!isNamed) await this.#storage.nameStore(session, randomUUID())
      const isNew = !isNamed || rows.some(({ table, seq }) => table === '' && Math.abs(Date.now() - seq) < NEW_MS)
      if (isNew && this.#storage.mayNameTwice) await sleep(Math.max(NAMING_MS, SLOWER * (performance.now() - beganMs)))
      if (isNew) rows = await this.#storage.readCommits(session)
      const own = this.#own(rows)
      const isSetBack = this.#last.read(before, own)
      if (isSetBack) this.#setBacks++
      return { store: storeOf(rows), records: committedRecords(own), isSetBack }
    })
  }

  /** @param {Session} session @returns {import('./placement.js').Find<Plan>} */
  #finder (session) {
    const withSource = !this.#placement.names.perSource
    return (name, arranged) => this.#storage.prepareTable(session, name, arranged, withSource)
  }

  /** Those of this sink's tables. @param {CommitRow[]} rows */
  #own (rows) {
    return rows.filter(row => row.table !== '' && this.#placement.owns(row))
  }

  /**
   * @template T
   * @param {(session: Session) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    const setBacks = this.#setBacks
    try {
      return await this.#storage.use(async session => {
        if (!this.#hasCommits) await this.#storage.prepareCommits(session)
        this.#hasCommits = true
        return work(session)
      }, signal)
    } catch (error) {
      if (/** @type {any} */ (error).code === SET_BACK && setBacks === this.#setBacks) {
        this.#setBacks++
        this.#last = new LastRecords()
      }
      if (signal?.aborted) throw error
      if (this.#storage.isTransient(error)) this.#forgetTables()
      if (error instanceof SluiceError) throw error
      const { failure, place } = this.#storage
      if (typeof failure !== 'string') throw failure(error, place)
      throw new SluiceError(failure, `${place}: ${describe(error)}.`, { cause: error })
    }
  }

  /** They may have been dropped or changed. */
  #forgetTables () {
    this.#placement.forget()
    this.#hasCommits = false
  }
}

/** The database's id; the earliest, should there be two. @param {CommitRow[]} rows */
function storeOf (rows) {
  const [first] = rows.filter(({ table }) => table === '').sort((a, b) => a.seq - b.seq || (a.gateway < b.gateway ? -1 : 1))
  return first?.gateway
}
