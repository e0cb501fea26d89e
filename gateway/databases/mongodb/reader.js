import { Long } from 'mongodb'
import { SluiceError, describe } from '../../base/errors.js'
import { edgeOf, minimumOf, summariesOf } from '../reading/compute.js'
import { documentRange, documentSamples } from '../reading/documents.js'
import { handedOver } from '../reading/handover.js'
import { readerOptions } from '../reading/options.js'
import { inPages, PAGE_ROWS } from '../reading/pages.js'
import { bytesOf, bytesText, whole } from '../reading/values.js'
import { floor } from '../../batch/layouts.js'
import { tagColumnOf } from '../wide.js'
import { EPOCH, ORIGIN, SEQ } from '../upsert/layout.js'
import { keyOf, OWN_KEYS } from './names.js'
import { checkLayout, placeOf, sinceStart } from './reader-layouts.js'
import { schema } from './reader.schema.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reading/table.js').TableOptions} Options
 * @typedef {import('mongodb').Db} Db
 * @typedef {import('./connection.js').MongodbServer} MongodbServer
 *
 * @typedef {object} TimeKey  where the times are
 * @property {string} key
 * @property {(document: any) => bigint} timeOf
 * @property {(from: bigint, to: bigint) => object} range  a condition
 */

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server?: any}} context  `server`: a MongodbServer
 * @returns {Promise<Reader>}
 */
export async function open (options, { server }) {
  return new MongodbReader(readerOptions(schema, options), server)
}

/** @implements {Reader} */
class MongodbReader {
  #options
  #server
  #isChecked = false

  /** @param {Options} options @param {MongodbServer} server */
  constructor (options, server) {
    this.#options = options
    this.#server = server
  }

  /** @type {Reader['samples']} */
  samples (range) {
    return handedOver(give => this.#attempt(range.signal, async db => {
      await this.#checkLayout(db, range.signal)
      const pages = this.#hasDocuments ? documentSamples(this.#documents(db, range), range) : this.#pages(db, range)
      for await (const page of pages) {
        range.signal?.throwIfAborted()
        if (!await give(page)) return
        range.signal?.throwIfAborted()
      }
    }))
  }

  /** @type {Reader['summaries']} */
  summaries (range) {
    return summariesOf(this, range)
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    const { sensor, from, to, tags, above = Infinity, below = -Infinity, last = false, signal } = range
    if (this.#hasDocuments) return edgeOf(this, range)
    return this.#attempt(signal, async db => {
      await this.#checkLayout(db, signal)
      const keys = this.#valueKeys([sensor])
      if (keys.length === 0) return null
      const isOutside = (/** @type {number} */ value) => value > above || value < below
      const outside = keys.flatMap(key => [
        ...above < Infinity ? [{ [key]: { $gt: above } }] : [],
        ...below > -Infinity ? [{ [key]: { $lt: below } }] : [],
        ...[false, true].filter(value => isOutside(Number(value))).map(value => ({ [key]: value }))
      ])
      if (outside.length === 0) return null
      const time = await this.#timeKey(db, signal)
      const conditions = [this.#conditions([sensor], time.range(from, to), tags), { $or: outside }]
      const matching = this.#find(db, { $and: conditions }, { [time.key]: 1 }, signal)
      const [found] = await matching.sort({ [time.key]: last ? -1 : 1 }).limit(1).toArray()
      return found ? time.timeOf(found) : null
    })
  }

  /** @type {Reader['minimum']} */
  minimum (range) {
    return minimumOf(this, range)
  }

  /** @type {NonNullable<Reader['byKey']>} */
  async byKey ({ names, keys, signal }) {
    const { table, source } = this.#options
    return this.#attempt(signal, async db => {
      await this.#checkLayout(db, signal)
      const columns = names.map(name => keyOf(OWN_KEYS.includes(name) ? `${name}~field` : name))
      // FerretDB lets its database look for plain equality only; all else it reads and compares itself.
      const matching = keys.map(key => Object.fromEntries(key.map((value, i) => [columns[i], value])))
      const wanted = matching.length === 1
        ? matching[0]
        : columns.length > 1
          ? { $or: matching }
          : { [columns[0]]: { $in: keys.map(([value]) => value) } }
      const options = { useBigInt64: true, promoteBuffers: true, signal }
      const found = await db.collection(table).find({ ...wanted, ...source !== '' && { source } }, options).toArray()
      return found.map(rowOf).map(row => ({ key: columns.map(column => row[column]), row }))
    })
  }

  /** The connections are the server's. */
  async close () {}

  /** @param {Db} db @param {Parameters<Reader['samples']>[0]} range @returns {AsyncGenerator<Sample[], void, void>} */
  async * #pages (db, { sensors, from, to, tags, pageRows = PAGE_ROWS, signal }) {
    const keys = this.#valueKeys(sensors)
    if (keys.length === 0) return
    const { layout, sensorColumn } = this.#options
    const time = await this.#timeKey(db, signal)
    const values = layout === 'paper-individual' ? ['sensors'] : keys
    const shown = [time.key, ...values, ...layout === 'narrow' ? [sensorColumn] : []]
    const conditions = this.#conditions(sensors, time.range(from, to), tags)
    const found = this.#find(db, conditions, Object.fromEntries(shown.map(key => [key, 1])), signal)
    const columns = sensors.filter(isSensor).map(sensor => ({ sensor, key: keyOf(sensor), place: placeOf(sensor) }))
    yield * inPages(found.sort({ [time.key]: 1 }).batchSize(pageRows), (pages, document) => {
      const at = time.timeOf(document)
      if (layout === 'narrow') {
        const value = keys.map(key => valueOf(document[key])).find(each => each !== undefined)
        if (value !== undefined) pages.add(at, String(document[sensorColumn]), value)
        return
      }
      const array = layout === 'paper-individual' ? document.sensors : null
      for (const { sensor, key, place } of columns) {
        const value = key === time.key ? undefined : valueOf(array ? array[place ?? -1] : document[key])
        if (value !== undefined) pages.add(at, sensor, value)
      }
    }, { sensors, pageRows, signal })
  }

  /** @param {Db} db @param {import('../reader.js').Range} range */
  async * #documents (db, range) {
    const { layout, intervalMs } = this.#options
    const { first, to } = documentRange(range, BigInt(layout === 'paper-bulk' ? 1000 : intervalMs) * 1_000_000n)
    const time = await this.#timeKey(db, range.signal)
    const conditions = this.#conditions([], time.range(first, to), range.tags)
    const found = this.#find(db, conditions, { [time.key]: 1, fields: 1, measurements: 1 }, range.signal)
    for await (const document of found.sort({ [time.key]: 1 })) {
      const { fields } = document
      const measurements = layout === 'paper-bulk' ? sinceStart(document[time.key], document.measurements) : document.measurements
      const valueOrNull = (/** @type {unknown} */ value) => valueOf(value) ?? null
      const rows = measurements.map((/** @type {any} */ { ns, m }) => ({ ns, m: m.map(valueOrNull) }))
      yield { time: time.timeOf(document), measurements: { fields, measurements: rows } }
    }
  }

  /** @param {Db} db @param {object} conditions @param {Record<string, number>} keys  to be sent @param {AbortSignal} [signal] */
  #find (db, conditions, keys, signal) {
    const projection = '_id' in keys ? keys : { ...keys, _id: 0 }
    return db.collection(this.#options.table).find(conditions, { projection, useBigInt64: true, promoteBuffers: true, signal })
  }

  /** @param {string[]} sensors @param {object} range @param {import('../reader.js').WantedTags} [tags] */
  #conditions (sensors, range, tags = {}) {
    const { source, layout, sensorColumn } = this.#options
    // A sensor's name may be stored as a number.
    const names = sensors.flatMap(name => String(Number(name)) === name ? [name, Number(name)] : [name])
    return {
      ...range,
      ...source !== '' && { $or: [{ source }, { 'meta.source': source }] },
      ...Object.keys(tags).length > 0 && { $and: Object.entries(tags).map(([tag, values]) => tagged(tag, values)) },
      ...layout === 'narrow' && { [sensorColumn]: { $in: names } }
    }
  }

  /** The keys that values of these sensors can be under. @param {string[]} sensors */
  #valueKeys (sensors) {
    const { layout, valueColumn } = this.#options
    if (layout === 'narrow') return sensors.length === 0 ? [] : ['', '_int64', '_string', '_bytes'].map(end => `${valueColumn}${end}`)
    if (layout === 'paper-individual') return sensors.flatMap(sensor => placeOf(sensor) === null ? [] : `sensors.${sensor}`)
    return sensors.filter(isSensor).map(keyOf)
  }

  get #hasDocuments () { return ['document', 'paper-bulk'].includes(this.#options.layout) }

  /** @param {Db} db @param {AbortSignal} [signal] @throws {SluiceError} SLUICE_QUERY_TABLE where the documents have another layout */
  async #checkLayout (db, signal) {
    if (this.#isChecked) return
    const { table, layout } = this.#options
    checkLayout(table, layout, await db.collection(table).findOne({}, { signal }))
    this.#isChecked = true
  }

  /** @param {Db} db @param {AbortSignal} [signal] @returns {Promise<TimeKey>} */
  async #timeKey (db, signal) {
    const { table, timeColumn, layout } = this.#options
    if (layout.startsWith('paper-')) return dates(timeColumn)
    const exact = `${timeColumn}_ns`
    const isExact = await db.collection(table).findOne({ [exact]: { $type: 'long' } }, { projection: { _id: 1 }, signal })
    return isExact ? nanoseconds(exact) : dates(timeColumn)
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(db: Db) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (signal, work) {
    try {
      signal?.throwIfAborted()
      return await this.#server.use(work)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof SluiceError) throw error
      const collection = `the collection "${this.#options.table}" of ${this.#server.place}`
      throw new SluiceError('SLUICE_QUERY_MONGODB', `Cannot read ${collection}: ${describe(error)}.`, { cause: error })
    }
  }
}

/** @param {string} key @returns {TimeKey} */
function nanoseconds (key) {
  return {
    key,
    timeOf: document => BigInt(document[key]),
    range: (from, to) => ({ [key]: { $gte: Long.fromBigInt(from), $lt: Long.fromBigInt(to) } })
  }
}

/** @param {string} key  of dates, which count milliseconds @returns {TimeKey} */
function dates (key) {
  const first = (/** @type {bigint} */ ns) => new Date(-Number(floor(-ns, 1_000_000n) / 1_000_000n))
  return {
    key,
    timeOf: document => BigInt(document[key].getTime()) * 1_000_000n,
    range: (from, to) => ({ [key]: { $gte: first(from), $lt: first(to) } })
  }
}

/**
 * Documents with one of these values of a tag, under whatever key the sink has put it.
 * @param {string} tag
 * @param {(string|null)[]} values
 */
function tagged (tag, values) {
  const [name, marked] = [tag, tagColumnOf(tag)].map(keyOf)
  const keys = [`meta.${marked}`, `meta.${name}`, marked, name]
  const texts = values.filter(value => value !== null)
  // Where the marked key is there, the other one is a field's.
  const found = keys.map(key => ({ [key]: { $in: texts }, ...key === name && { [marked]: { $exists: false } } }))
  const missing = Object.fromEntries(keys.map(key => [key, { $exists: false }]))
  return { $or: [...texts.length > 0 ? found : [], ...values.includes(null) ? [missing] : []] }
}

/** @param {any} document @returns {import('../reader.js').KeyedRow} */
function rowOf ({ _id, time, time_ns: exact, [ORIGIN]: _origin, [EPOCH]: _epoch, [SEQ]: _seq, ...values }) {
  const named = Object.entries(values).map(([name, value]) => [name, bytesOf(value) ?? (typeof value === 'bigint' ? whole(value) : value)])
  return { time: typeof exact === 'bigint' ? exact : BigInt(time.getTime()) * 1_000_000n, ...Object.fromEntries(named) }
}

/** Whether a document can have values under that name. @param {string} name */
function isSensor (name) {
  return name !== '' && !name.includes('\0') && !['_id', 'time', 'time_ns'].includes(name)
}

/** @param {any} value @returns {Sample['value']|undefined} */
function valueOf (value) {
  if (typeof value === 'bigint') return whole(value)
  if (value instanceof Uint8Array) return bytesText(value)
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean' ? value : undefined
}
