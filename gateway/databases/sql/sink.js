import { randomUUID } from 'node:crypto'
import { SluiceError } from '../../base/errors.js'
import { decide, wantedRecords } from '../claims.js'
import { committedRecords, mergedRecords, recordKey } from '../commit-records.js'
import { RecordSet } from '../record-set.js'
import { LastRecords, SET_BACK, setBack } from '../set-back.js'
import { checkKey } from '../upsert/layout.js'
import { noteArrivals, refuseKeyless } from '../upsert/rows.js'
import { AgingTables } from './aging.js'
import { Placement } from './placement.js'

/**
 * The sink of every database with SQL and transactions. What a database supplies is a `Storage`: connection, dialect, fast writing of rows
 * and what its errors mean. `sql/tables.js`, `sql/commit-records.js` and, for databases that are files, `sql/file-sink.js` help to write
 * one.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../claims.js').Decision} Decision
 */

/**
 * @template Session  a connection, and what belongs to it
 * @template Plan  where the rows of one shape of batch go
 * @typedef {object} Storage
 * @property {import('../wide.js').Dialect & import('../names.js').NameRules} dialect
 * @property {import('./placement.js').Arrange} [arrange]  for layouts of its own
 * @property {<T>(work: (session: Session) => Promise<T>, signal?: AbortSignal) => Promise<T>} use  lends a session, connecting when needed;
 *   rolls back what the work leaves uncommitted when it fails, and gives up a session that is no longer good
 * @property {(error: unknown) => boolean} isTransient
 * @property {(error: unknown) => SluiceError} failure  the error that users see, with this one as its cause
 * @property {(batches: Batch[]) => void} [check]  throws of rows that the database is known to refuse
 * @property {string} place  the database, for messages
 * @property {(session: Session) => Promise<void>} prepareCommits  creates the table of commit records where it is missing; throws
 *   SLUICE_SINK_RECORDS_OLD
 * @property {(session: Session) => Promise<CommitRow[]>} readCommits  all of them. One without a table has the database's id as its gateway
 * @property {(session: Session, id: string) => Promise<unknown>} nameStore  leaves that one where there is none
 * @property {(session: Session, wanted: CommitRow[], previous: Claim[]) => Promise<Claim[]>} claim  within the transaction of `store`:
 *   leaves records where there are none, and returns those; nothing where one of the previous is missing. Where another transaction is
 *   storing the same batch, it waits for its end. `wanted` has each batch once, and at least one
 * @property {(session: Session, wanted: Claim[]) => Promise<CommitRow[]>} find  within the transaction of `store`: the records that hold
 *   these, among others
 * @property {(session: Session, records: CommitRow[]) => Promise<void>} move  within the transaction of `store`: these, just claimed, count
 *   no rows
 * @property {(session: Session, merged: () => Promise<CommitRow[]>) => Promise<void>} compact  in a transaction during which nobody claims:
 *   puts each record that `merged` then returns in the place of those within it
 * @property {(session: Session, name: string, arranged: Batch, withSource: boolean) => Promise<Plan>} prepareTable  finds the place for the
 *   rows in the table of that name; creates what is missing; throws SLUICE_SINK_TABLE_MISFIT. `withSource`: several sources share the table
 * @property {(session: Session, name: string, withSource: boolean) => Promise<import('./aging.js').AgingTable|null>} agingTable  the table
 *   in which `prepareTable` finds the place, null where it is not there
 * @property {(session: Session, claimed: () => Promise<Map<Plan, Batch[]>>, how: {probe: boolean}) => Promise<void>} store
 *   one transaction: begins it, calls `claimed`, writes the rows that it returns (arranged batches by their plan), and commits; with
 *   `probe` it rolls back, after all that could refuse the rows
 * @property {() => Promise<void>} [close]  of what is the sink's own
 */

/**
 * Connects when it is first needed, and again after an error: a sink whose database is not there yet waits for it.
 * @template Session
 * @template Plan
 * @implements {Sink}
 */
export class SqlSink {
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
    this.#placement = new Placement(/** @type {any} */ (options), storage.dialect, storage.arrange)
    this.#aging = new AgingTables(this.#placement.names, storage)
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    noteArrivals(batches, this.#options)
    if (this.#hasCommits && this.#placement.covers(batches)) return
    await this.#attempt(session => this.#placesOf(session, batches))
  }

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
      const places = await this.#placesOf(session, batches)
      const previous = this.#last.all
      let decision = /** @type {Decision} */ ({})
      await this.#storage.store(session, async () => {
        decision = await this.#decide(session, batches, wanted, previous, probe)
        /** @type {Map<Plan, Batch[]>} */
        const rows = new Map()
        for (const batch of decision.fresh) {
          const place = places.get(batch)
          if (!place) continue
          const group = rows.get(place.plan)
          if (group) group.push(place.arranged)
          else rows.set(place.plan, [place.arranged])
        }
        return rows
      }, { probe })
      if (!probe) this.#last.committed(previous, decision.records)
      const { duplicates, clashes } = decision
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

  async close () {
    await this.#storage.close?.()
  }

  /**
   * Leaves the commit records of what is not stored yet. Mostly that is all of it, and a single statement.
   * @param {Session} session
   * @param {Batch[]} batches
   * @param {Map<string, CommitRow>} wanted
   * @param {Claim[]} previous
   * @param {boolean} probe
   */
  async #decide (session, batches, wanted, previous, probe) {
    const records = [...wanted.values()]
    const claimed = new Set(records.length > 0 ? (await this.#storage.claim(session, records, previous)).map(recordKey) : [])
    const expected = [...records.filter(record => !claimed.has(recordKey(record))), ...claimed.size === 0 ? previous : []]
    const found = expected.length > 0 ? await this.#storage.find(session, expected) : []
    const held = new RecordSet()
    for (const row of found) held.add(row)
    if (!expected.every(claim => held.find(claim))) throw setBack(this.#storage.place)
    const decision = decide(batches, wanted, claim => claimed.has(recordKey(claim)) ? undefined : held.find(claim), probe)
    if (decision.moved.length > 0) await this.#storage.move(session, decision.moved)
    return decision
  }

  async #read () {
    return this.#attempt(async session => {
      const before = this.#last.all
      let rows = await this.#storage.readCommits(session)
      if (!storeOf(rows)) {
        await this.#storage.nameStore(session, randomUUID())
        rows = await this.#storage.readCommits(session)
      }
      const own = this.#own(rows)
      const isSetBack = this.#last.read(before, own)
      if (isSetBack) this.#setBacks++
      return { store: storeOf(rows), records: committedRecords(own), isSetBack }
    })
  }

  /** @param {Session} session @param {Batch[]} batches */
  #placesOf (session, batches) {
    const withSource = !this.#placement.names.perSource
    return this.#placement.of(batches, (name, arranged) => this.#storage.prepareTable(session, name, arranged, withSource))
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
        this.#forgetTables()
      }
      if (signal?.aborted || error instanceof SluiceError) throw error
      if (this.#storage.isTransient(error)) this.#forgetTables()
      throw this.#storage.failure(error)
    }
  }

  /** They may have been dropped or changed. */
  #forgetTables () {
    this.#placement.forget()
    this.#hasCommits = false
  }
}

/** The database's id; the least, should there be two. @param {CommitRow[]} rows */
function storeOf (rows) {
  return rows.filter(({ table }) => table === '').map(({ gateway }) => gateway).sort()[0]
}
