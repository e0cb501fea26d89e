import { SluiceError } from '../../base/errors.js'
import { committedRanges, mergedRecords, recordKey } from '../commit-records.js'
import { Placement } from './placement.js'

/**
 * The sink of every database with SQL and transactions. What a database supplies is a `Storage`: connection, dialect, fast writing of rows
 * and what its errors mean. `sql/tables.js`, `sql/commit-records.js` and, for databases that are files, `sql/file-sink.js` help to write
 * one.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {Omit<CommitRow, 'last'>} Claim  the record of one batch
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
 * @property {(session: Session) => Promise<void>} prepareCommits  creates the table of commit records where it is missing
 * @property {(session: Session) => Promise<CommitRow[]>} readCommits
 * @property {(session: Session, wanted: Claim[]) => Promise<Claim[]>} claim  within the transaction of `store`: leaves records, and returns
 *   those that had none. Where another transaction is storing the same batch, it waits for its end. `wanted` has each batch once, and at
 *   least one
 * @property {(session: Session, merged: () => Promise<CommitRow[]>) => Promise<void>} compact  in a transaction during which nobody claims:
 *   puts each record that `merged` then returns in the place of those within it
 * @property {(session: Session, name: string, arranged: Batch, withSource: boolean) => Promise<Plan>} prepareTable  finds the place for the
 *   rows in the table of that name; creates what is missing; throws SLUICE_SINK_TABLE_MISFIT. `withSource`: several sources share the table
 * @property {(session: Session, claimed: () => Promise<Map<Plan, Batch[]>>, probe: boolean) => Promise<void>} store  one transaction:
 *   begins it, calls `claimed`, writes the rows that it returns (arranged batches by their plan), and commits; with `probe` it rolls back,
 *   after all that could refuse the rows
 * @property {() => Promise<void>} [close]  of what is the sink's own
 */

/**
 * Connects when it is first needed, and again after an error: a sink whose database is not there yet waits for it.
 * @template Session
 * @template Plan
 * @implements {Sink}
 */
export class SqlSink {
  #storage
  /** @type {Placement<Plan>} */
  #placement
  #hasCommits = false

  /** @param {Record<string, any>} options  of the sink @param {Storage<Session, Plan>} storage */
  constructor (options, storage) {
    this.#storage = storage
    this.#placement = new Placement(/** @type {any} */ (options), storage.dialect, storage.arrange)
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    if (this.#hasCommits && this.#placement.covers(batches)) return
    await this.#attempt(session => this.#placesOf(session, batches))
  }

  async committed () {
    return this.#attempt(async session => committedRanges(await this.#ownRecords(session)))
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    this.#storage.check?.(batches)
    return this.#attempt(async session => {
      const places = await this.#placesOf(session, batches)
      /** @type {Batch[]} */
      let duplicates = []
      await this.#storage.store(session, async () => {
        const claimed = await this.#claim(session, batches, probe)
        duplicates = claimed.duplicates
        /** @type {Map<Plan, Batch[]>} */
        const rows = new Map()
        for (const batch of claimed.fresh) {
          const place = places.get(batch)
          if (!place) continue
          const group = rows.get(place.plan)
          if (group) group.push(place.arranged)
          else rows.set(place.plan, [place.arranged])
        }
        return rows
      }, probe)
      return { duplicates }
    }, signal)
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt(async session => {
      const merged = async () => mergedRecords(await this.#ownRecords(session), heads)
      if ((await merged()).length > 0) await this.#storage.compact(session, merged)
    })
  }

  async close () {
    await this.#storage.close?.()
  }

  /**
   * Leaves the commit records, and separates the batches that had none from those that had.
   * @param {Session} session
   * @param {Batch[]} batches
   * @param {boolean} probe  in which several slices of one batch are all to be tried
   */
  async #claim (session, batches, probe) {
    const { inRecords } = this.#placement.names
    const wanted = new Map(batches.flatMap(({ identity }) =>
      identity ? [[recordKey(identity), { ...identity, table: inRecords(identity.source) }]] : []))
    const claimed = new Set(wanted.size > 0 ? (await this.#storage.claim(session, [...wanted.values()])).map(recordKey) : [])
    const isClaimed = (/** @type {string} */ key) => probe ? claimed.has(key) : claimed.delete(key)
    const { fresh = [], duplicates = [] } = Object.groupBy(batches, ({ identity }) =>
      !identity || isClaimed(recordKey(identity)) ? 'fresh' : 'duplicates')
    return { fresh, duplicates }
  }

  /** @param {Session} session @param {Batch[]} batches */
  #placesOf (session, batches) {
    const withSource = !this.#placement.names.perSource
    return this.#placement.of(batches, (name, arranged) => this.#storage.prepareTable(session, name, arranged, withSource))
  }

  /** @param {Session} session */
  async #ownRecords (session) {
    return (await this.#storage.readCommits(session)).filter(record => this.#placement.owns(record))
  }

  /**
   * @template T
   * @param {(session: Session) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    try {
      return await this.#storage.use(async session => {
        if (!this.#hasCommits) await this.#storage.prepareCommits(session)
        this.#hasCommits = true
        return work(session)
      }, signal)
    } catch (error) {
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
