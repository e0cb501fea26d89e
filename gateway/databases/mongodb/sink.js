import { Turns } from '../../base/turns.js'
import { byTags } from '../../batch/groups.js'
import { withDefaults } from '../../base/defaults.js'
import { BatchKeys } from '../keyed/batch-keys.js'
import { keyedSink } from '../keyed/sink.js'
import { isRefusal } from '../refusal.js'
import { UPSERT } from '../upsert/layout.js'
import { newestOf } from '../upsert/rows.js'
import { agingCollection } from './aging.js'
import { prepareCollection } from './collections.js'
import { CommitRecords } from './commit-records.js'
import { narrowDocuments, wideDocuments } from './documents.js'
import { intervalDocuments } from './intervals.js'
import { collectionNames, keysOf, nameRules } from './names.js'
import { schema } from './sink.schema.js'
import { Store } from './store.js'
import { upsert } from './upserts.js'
import { arrayDocuments } from './value-arrays.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./connection.js').MongodbServer} MongodbServer
 * @typedef {import('./connection.js').Product} Product
 * @typedef {import('mongodb').Db} Db
 * @typedef {{collection: string, withSource: boolean, keys: import('./names.js').Keys}} Plan  where the documents of one shape of batch go
 * @typedef {{db: Db, commits: CommitRecords, product: Product}} Session
 * @typedef {{batch: Batch, arranged: Batch, plan: Plan}} Placed
 */

/** FerretDB reports as an error of its own what its PostgreSQL does not take: a text with NUL, a key with a quotation mark. */
const DATA_EXCEPTION = /\(SQLSTATE 22\w{3}\)/

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ message }) => DATA_EXCEPTION.test(message))
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: MongodbServer, log?: import('../../base/log.js').Log}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server, log }) {
  const options = /** @type {Record<string, any>} */ (withDefaults(schema, given))
  const { layout, key } = options
  const notice = layout === 'timeseries' ? 'at least once' : ''
  if (notice) log?.warn('Time-series collections store at least once: after a kill of the gateway or the server, rows may be stored twice.')
  const rows = layout === UPSERT ? new Upserts(key) : new Rows(options)
  /** @type {import('../keyed/sink.js').Storage<Session, Plan>} */
  const storage = {
    dialect: nameRules(server.database),
    names: collectionNames(options.table, server.database),
    place: server.place,
    isTransient,
    failure: 'SLUICE_SINK_MONGODB',
    arrange: layout === UPSERT ? batch => newestOf(batch, key) : batch => batch,
    async use (work, signal) {
      try {
        signal?.throwIfAborted()
        return await server.use((db, product) => work({ db, commits: new CommitRecords(db), product }))
      } catch (error) {
        throw signal?.aborted ? signal.reason : error
      }
    },
    prepareCommits: ({ commits }) => commits.prepare(log),
    readCommits: ({ commits }) => commits.read(),
    nameStore: ({ commits }, id) => commits.nameStore(id),
    find: ({ commits }, claims) => commits.find(claims),
    leave: ({ commits }, records) => commits.leave(records),
    merge: ({ commits }, merged) => commits.merge(merged),
    async prepareTable ({ db }, collection, batch, withSource) {
      const keys = keysOf(batch, layout, { collection, withSource })
      await prepareCollection(db, collection, { .../** @type {any} */ (options), isChosen: withSource }, log)
      return { collection, withSource, keys }
    },
    agingTable: async ({ db }, name, withSource, sources) =>
      agingCollection(db, name, withSource ? sources : null, /** @type {any} */ (options)),
    store: (session, places, how) => rows.store(session, places, how),
    notice: () => notice
  }
  return keyedSink(options, storage)
}

/** Documents of rows and of intervals. */
class Rows {
  #layout
  #store = new Store()
  #keys = new BatchKeys()
  /** Of documents of intervals. @type {number|null} */
  #intervalMs

  /** @param {Record<string, any>} options */
  constructor ({ layout, intervalMs }) {
    this.#layout = layout
    this.#intervalMs = layout === 'paper-bulk' ? 1000 : layout === 'document' ? intervalMs : null
  }

  /** @param {Session} session @param {Placed[]} places @param {{probe: boolean, signal?: AbortSignal}} how */
  async store ({ db, product }, places, { probe, signal }) {
    // A document of some rows of an interval would stand where the whole one belongs; and the server reports what it refuses anyway.
    if (probe && this.#intervalMs !== null) return
    for (const [collection, its] of Map.groupBy(places, ({ plan }) => plan.collection)) {
      const encoded = its.flatMap(({ batch, plan }) => {
        const rest = this.#store.restOf(batch)
        return rest.rows === 0 ? [] : byTags(rest).map(part => ({ batch, rest: part, documents: this.#documentsOf(part, plan, product) }))
      })
      await this.#store.write(db, collection, encoded, signal)
    }
  }

  /** @param {Batch} batch  with the same tags in all rows @param {Plan} plan @param {Product} product */
  #documentsOf (batch, plan, { isFerretdb }) {
    const source = { batch, key: this.#keyOf(batch), keys: keysIn(plan, batch, this.#layout), finiteOnly: isFerretdb }
    if (this.#layout === 'narrow') return narrowDocuments(source)
    if (this.#layout === 'paper-individual') return arrayDocuments(source)
    if (this.#intervalMs === null) return wideDocuments(source)
    return intervalDocuments(source, { intervalNs: BigInt(this.#intervalMs) * 1_000_000n, isPaper: this.#layout === 'paper-bulk' })
  }

  /**
   * What _id begins with. Documents of intervals differ from those of rows, and of other intervals: when the layout is changed while a
   * batch is half stored, one of them must not be mistaken for another that holds more.
   * @param {Batch} batch
   */
  #keyOf (batch) {
    return this.#keys.of(batch, this.#intervalMs === null ? [] : [this.#intervalMs, ...this.#layout === 'paper-bulk' ? ['paper-bulk'] : []])
  }
}

/** Documents that replace older ones. */
class Upserts {
  /** FerretDB reads a document, compares, and writes: of two that do so together, the older one may be last. */
  #replacing = new Turns(1)
  #key

  /** @param {string[]} key */
  constructor (key) {
    this.#key = key
  }

  /** @param {Session} session @param {Placed[]} places @param {{signal?: AbortSignal}} how */
  async store ({ db, product: { isFerretdb } }, places, { signal }) {
    for (const [collection, its] of Map.groupBy(places, ({ plan }) => plan.collection)) {
      const parts = its.flatMap(({ batch, arranged, plan }) =>
        byTags(arranged).map(part => ({ batch, part, keys: keysIn(plan, part, UPSERT) })))
      const write = () => upsert(db, collection, parts, { key: this.#key, finiteOnly: isFerretdb, signal })
      await (isFerretdb ? this.#replacing.run(write, signal) : write())
    }
  }
}

/** Of a part of a batch, which may lack tags. @param {Plan} plan @param {Batch} part @param {any} layout */
function keysIn (plan, part, layout) {
  const { collection, withSource, keys } = plan
  const tags = keys.constants.filter(({ tag }) => tag !== null).length
  return Object.keys(part.tags).length === tags ? keys : keysOf(part, layout, { collection, withSource })
}
