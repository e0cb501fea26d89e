import { spanOf } from '../sql/aging.js'
import { UPSERT } from '../upsert/layout.js'
import { isOwnId } from './collections.js'
import { WRITE_CONCERN } from './insert.js'

/**
 * Documents that have become too old. A TTL index would be a second one on time, and FerretDB has none; only a time-series collection is
 * told how long to keep them.
 *
 * @typedef {import('../sink.js').Span} Span
 * @typedef {import('mongodb').Db} Db
 */

const NS_PER_MS = 1_000_000n
const DAY_SECONDS = 86_400

/** Layouts without exact times. */
const OF_MILLISECONDS = ['paper-individual', 'paper-bulk', 'timeseries']

export class AgingDocuments {
  #names
  #options
  /** @type {Set<string>} */
  #sources = new Set()
  /** When the oldest document of each collection is of. @type {Map<string, bigint>} */
  #oldest = new Map()

  /**
   * @param {import('../names.js').TableNames} names
   * @param {{layout: string, keepDays: number}} options  of the sink
   */
  constructor (names, options) {
    this.#names = names
    this.#options = options
  }

  /** @param {{source: string}[]} all  batches or records */
  note (all) {
    for (const { source } of all) this.#sources.add(source)
  }

  /** @param {Db} db @returns {Promise<Span|null>} */
  async span (db) {
    const spans = []
    this.#oldest.clear()
    for (const collection of this.#collections()) {
      const [[oldest], [newest]] = await Promise.all([1, -1].map(direction => this.#first(db, collection, {}, direction, 1)))
      if (!oldest) continue
      if (this.#options.layout === 'timeseries') await this.#lengthen(db, collection)
      const span = { oldest: this.#timeOf(oldest), newest: this.#timeOf(newest) }
      this.#oldest.set(collection, span.oldest)
      spans.push(span)
    }
    return spanOf(spans)
  }

  /** @param {Db} db @param {bigint} before @param {number} maxRows */
  async removeBefore (db, before, maxRows) {
    let removed = 0
    for (const [collection, oldest] of this.#oldest) {
      if (removed >= maxRows) break
      if (oldest >= before) continue
      const its = await this.#remove(db, collection, before, maxRows - removed)
      if (its < maxRows - removed) this.#oldest.delete(collection)
      removed += its
    }
    return removed
  }

  /** @param {Db} db @param {string} collection @param {bigint} before @param {number} maxRows */
  async #remove (db, collection, before, maxRows) {
    const { layout } = this.#options
    if (layout === 'timeseries') {
      await db.command({ collMod: collection, expireAfterSeconds: this.#keepSeconds })
      return 0
    }
    const limit = this.#time === 'time' ? new Date(Number(before / NS_PER_MS)) : before
    const mayBeOwn = { $type: layout === UPSERT ? 'string' : 'binData' } // others' documents must not fill a turn
    const old = await this.#first(db, collection, { [this.#time]: { $lt: limit }, _id: mayBeOwn }, 1, maxRows)
    const ids = old.map(({ _id: id }) => id).filter(isOwnId)
    if (ids.length === 0) return 0
    return (await db.collection(collection).deleteMany({ _id: { $in: ids } }, { writeConcern: WRITE_CONCERN })).deletedCount
  }

  /** A server that was told to keep them for a shorter time would go on with it. @param {Db} db @param {string} collection */
  async #lengthen (db, collection) {
    const [{ options }] = /** @type {any[]} */ (await db.listCollections({ name: collection }).toArray())
    const wanted = this.#keepSeconds
    if (options?.expireAfterSeconds < wanted) await db.command({ collMod: collection, expireAfterSeconds: wanted })
  }

  /** @param {Db} db @param {string} collection @param {any} which @param {number} direction  in time @param {number} limit */
  #first (db, collection, which, direction, limit) {
    const source = this.#options.layout === 'timeseries' ? 'meta.source' : 'source'
    const its = this.#names.perSource ? which : { ...which, [source]: { $in: [...this.#sources] } }
    const options = /** @type {const} */ ({ promoteBuffers: true, useBigInt64: true, readPreference: 'primary' })
    return db.collection(collection).find(its, options).project({ [this.#time]: 1 })
      .sort({ [this.#time]: /** @type {1|-1} */ (direction) }).limit(limit).toArray()
  }

  get #keepSeconds () { return Math.ceil(this.#options.keepDays * DAY_SECONDS) }

  get #time () { return OF_MILLISECONDS.includes(this.#options.layout) ? 'time' : 'time_ns' }

  /** @param {any} document */
  #timeOf ({ time, time_ns: ns }) {
    return ns === undefined ? BigInt(time.getTime()) * NS_PER_MS : BigInt(ns)
  }

  #collections () {
    return new Set(Array.from(this.#sources, source => {
      try {
        return this.#names.of(source)
      } catch {
        return '' // its rows are dead letters
      }
    }).filter(name => name !== ''))
  }
}
