import { createHash, randomBytes } from 'node:crypto'
import { SluiceError, describe } from '../../base/errors.js'
import { Turns } from '../../base/turns.js'
import { byTags } from '../../batch/groups.js'
import { decide, wantedRecords } from '../claims.js'
import { committedRecords } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { isRefusal } from '../refusal.js'
import { LastRecords, setBack } from '../set-back.js'
import { checkKey, UPSERT } from '../upsert/layout.js'
import { newestOf, noteArrivals, refuseKeyless } from '../upsert/rows.js'
import { shapeOf } from '../wide.js'
import { AgingDocuments } from './aging.js'
import { prepareCollection } from './collections.js'
import { CommitRecords } from './commit-records.js'
import { narrowDocuments, wideDocuments } from './documents.js'
import { intervalDocuments } from './intervals.js'
import { collectionNames, keysOf } from './names.js'
import { schema } from './sink.schema.js'
import { Store } from './store.js'
import { upsert } from './upserts.js'
import { arrayDocuments } from './value-arrays.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('./connection.js').MongodbServer} MongodbServer
 * @typedef {import('./connection.js').Product} Product
 * @typedef {import('mongodb').Db} Db
 * @typedef {{collection: string, keys: import('./names.js').Keys}} Plan  where the documents of one shape of batch go
 */

const MAX_SHAPES = 1000

/** FerretDB reports as an error of its own what its PostgreSQL does not take: a text with NUL, a key with a quotation mark. */
const DATA_EXCEPTION = /\(SQLSTATE 22\w{3}\)/

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ message }) => DATA_EXCEPTION.test(message))
}

/**
 * Connects when it is first needed: a sink whose server does not answer yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server: MongodbServer, log?: import('../../base/log.js').Log}} context
 * @returns {Promise<Sink>}
 */
export async function open (options, { server, log }) {
  const complete = withDefaults(schema, options)
  checkKey(complete)
  if (complete.layout === 'timeseries') {
    log?.warn('Time-series collections store at least once: after a kill of the gateway or the server, rows may be stored twice.')
  }
  return new MongodbSink(complete, server, log)
}

/** @implements {Sink} */
class MongodbSink {
  /** FerretDB reads a document, compares, and writes: of two that do so together, the older one may be last. */
  #replacing = new Turns(1)
  #options
  #names
  #server
  #log
  #store = new Store()
  #aging
  #last = new LastRecords()
  /** @type {Map<string, Plan>} by shape */
  #plans = new Map()
  /** @type {Set<string>} */
  #collections = new Set()
  #hasCommits = false
  /** @type {WeakMap<Batch, Buffer>} of batches without identity: one batch keeps its key for all attempts of this process */
  #keys = new WeakMap()

  /** @param {Record<string, any>} options @param {MongodbServer} server @param {import('../../base/log.js').Log} [log] */
  constructor (options, server, log) {
    this.#options = options
    this.#names = collectionNames(options.table, server.database)
    this.#aging = new AgingDocuments(this.#names, /** @type {any} */ (options))
    this.#server = server
    this.#log = log
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    noteArrivals(batches, this.#options)
    const plans = batches.filter(({ rows }) => rows > 0).map(batch => this.#planOf(batch))
    if (this.#hasCommits && plans.every(({ collection }) => this.#collections.has(collection))) return
    await this.#attempt(async db => {
      for (const { collection } of plans) await this.#prepareCollection(db, collection)
    })
  }

  async committed () {
    return this.#attempt(async (_db, commits) => {
      const before = this.#last.all
      const { store, rows } = await commits.read()
      const own = rows.filter(row => this.#owns(row))
      return { store, records: committedRecords(own), isSetBack: this.#last.read(before, own) }
    })
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    noteArrivals(batches, this.#options)
    this.#aging.note(batches)
    refuseKeyless(batches, this.#options)
    return this.#attempt(async (db, commits, product) => {
      const wanted = wantedRecords(batches, source => this.#names.inRecords(source))
      const last = this.#last.all
      const found = await commits.find([...last, ...wanted.values()])
      this.#checkLast(last.filter(claim => !found.find(claim)))
      const { fresh, duplicates, clashes, records } = decide(batches, wanted, claim => found.find(claim), probe)
      signal?.throwIfAborted()
      // A document of some rows of an interval would stand where the whole one belongs; and the server reports what it refuses anyway.
      if (this.#options.layout === UPSERT) await this.#upsertAll(db, product, fresh, signal)
      else if (!probe || this.#intervalMs === null) await this.#storeAll(db, product, fresh, signal)
      if (probe) return { duplicates, clashes }
      signal?.throwIfAborted()
      const late = await commits.leave(records)
      this.#last.committed(last, records)
      if (late.length === 0) return { duplicates, clashes }
      const left = await commits.find(late)
      const again = decide(fresh, wanted, claim => left.find(claim))
      return { duplicates: [...duplicates, ...again.duplicates], clashes: [...clashes, ...again.clashes] }
    }, signal)
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt((_db, commits) => commits.compact(heads, row => this.#owns(row)))
  }

  /** @type {NonNullable<Sink['span']>} */
  async span () {
    return this.#attempt(async (db, commits) => {
      this.#aging.note((await commits.read()).rows.filter(row => this.#owns(row)))
      return this.#aging.span(db)
    })
  }

  /** @type {NonNullable<Sink['removeBefore']>} */
  async removeBefore (before, { maxRows }) {
    return this.#attempt(db => this.#aging.removeBefore(db, before, maxRows))
  }

  notice () { return this.#options.layout === 'timeseries' ? 'at least once' : '' }

  /** The connections are the server's. */
  async close () {}

  /** @param {Db} db @param {Product} product @param {Batch[]} batches @param {AbortSignal} [signal] */
  async #storeAll (db, product, batches, signal) {
    /** @type {Map<string, import('./chunks.js').Encoded[]>} */
    const collections = new Map()
    for (const batch of batches) {
      const rest = this.#store.restOf(batch)
      if (rest.rows === 0) continue
      for (const part of byTags(rest)) {
        const { collection, keys } = this.#planOf(part)
        const encoded = collections.get(collection) ?? []
        encoded.push({ batch, rest: part, documents: this.#documentsOf(part, keys, product) })
        collections.set(collection, encoded)
      }
    }
    for (const [collection, encoded] of collections) {
      await this.#prepareCollection(db, collection)
      await this.#store.write(db, collection, encoded, signal)
    }
  }

  /** @param {Db} db @param {Product} product @param {Batch[]} batches @param {AbortSignal} [signal] */
  async #upsertAll (db, { isFerretdb }, batches, signal) {
    const { key } = this.#options
    const parts = batches.flatMap(batch => byTags(newestOf(batch, key)).map(part => ({ batch, part, ...this.#planOf(part) })))
    for (const [collection, its] of Map.groupBy(parts, part => part.collection)) {
      await this.#prepareCollection(db, collection)
      const write = () => upsert(db, collection, its, { key, finiteOnly: isFerretdb, signal })
      await (isFerretdb ? this.#replacing.run(write, signal) : write())
    }
  }

  /** @param {Batch} batch  with the same tags in all rows @param {import('./names.js').Keys} keys @param {Product} product */
  #documentsOf (batch, keys, { isFerretdb }) {
    const source = { batch, key: this.#keyOf(batch), keys, finiteOnly: isFerretdb }
    const { layout } = this.#options
    if (layout === 'narrow') return narrowDocuments(source)
    if (layout === 'paper-individual') return arrayDocuments(source)
    if (this.#intervalMs === null) return wideDocuments(source)
    return intervalDocuments(source, { intervalNs: BigInt(this.#intervalMs) * 1_000_000n, isPaper: layout === 'paper-bulk' })
  }

  /** Of documents of intervals. @returns {number|null} */
  get #intervalMs () {
    const { layout, intervalMs } = this.#options
    return layout === 'paper-bulk' ? 1000 : layout === 'document' ? intervalMs : null
  }

  /**
   * What _id begins with: 10 bytes for the epoch, 6 for seq. Documents of intervals differ from those of rows, and of other intervals: when
   * the layout is changed while a batch is half stored, one of them must not be mistaken for another that holds more. Nor must those of
   * another batch under the same identity.
   * @param {Batch} batch
   */
  #keyOf (batch) {
    const { identity, origin } = batch
    if (identity) {
      const { layout } = this.#options
      const interval = this.#intervalMs === null ? [] : [this.#intervalMs, ...layout === 'paper-bulk' ? [layout] : []]
      const epoch = [identity.gateway, identity.source, identity.epoch, identity.hash ?? 0, ...interval]
      const key = createHash('sha256').update(JSON.stringify(epoch)).digest().subarray(0, 16)
      key.writeUIntBE(identity.seq, 10, 6)
      return key
    }
    const whole = origin?.whole ?? batch
    const key = this.#keys.get(whole) ?? randomBytes(16)
    this.#keys.set(whole, key)
    return key
  }

  /** @param {Batch} batch @returns {Plan} */
  #planOf (batch) {
    const shape = shapeOf(batch)
    let plan = this.#plans.get(shape)
    if (!plan) {
      const collection = this.#names.of(batch.source)
      plan = { collection, keys: keysOf(batch, this.#options.layout, { collection, withSource: !this.#names.perSource }) }
      if (this.#plans.size >= MAX_SHAPES) this.#plans.clear()
      this.#plans.set(shape, plan)
    }
    return plan
  }

  /** @param {Db} db @param {string} collection */
  async #prepareCollection (db, collection) {
    if (this.#collections.has(collection)) return
    await prepareCollection(db, collection, { .../** @type {any} */ (this.#options), isChosen: !this.#names.perSource }, this.#log)
    this.#collections.add(collection)
  }

  /** @param {import('../claims.js').Claim[]} missing  of the last records */
  #checkLast (missing) {
    if (missing.length === 0) return
    this.#last.forget(missing)
    throw setBack(`${this.#server.place}, database "${this.#server.database}"`)
  }

  /** @param {{source: string, table: string}} row */
  #owns ({ source, table }) {
    return this.#names.inRecords(source) === table
  }

  /**
   * @template T
   * @param {(db: Db, commits: CommitRecords, product: Product) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    try {
      signal?.throwIfAborted()
      return await this.#server.use(async (db, product) => {
        const commits = new CommitRecords(db)
        if (!this.#hasCommits) await commits.prepare(this.#log)
        this.#hasCommits = true
        return work(db, commits, product)
      })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (isTransient(error)) this.#forgetCollections()
      if (error instanceof SluiceError) throw error
      throw new SluiceError('SLUICE_SINK_MONGODB', `${this.#server.place}: ${describe(error)}.`, { cause: error })
    }
  }

  /** They may have been dropped. */
  #forgetCollections () {
    this.#collections.clear()
    this.#hasCommits = false
  }
}
