import { SluiceError, describe } from '../../base/errors.js'
import { misfit } from '../wide.js'
import { UPSERT } from '../upsert/layout.js'
import { ID_BYTES, UPSERT_ID_LENGTH } from './documents.js'
import { keyOf } from './names.js'

/**
 * @typedef {import('mongodb').Db} Db
 * @typedef {import('./names.js').Layout} Layout
 * @typedef {import('../../base/log.js').Log} Log
 */

/** Not implemented; an unknown option, to MongoDB before 5.0. */
const NO_TIME_SERIES = [238, 40415]
const INVALID_NAMESPACE = 73
const NAMESPACE_EXISTS = 48

/** Internal error, missing permission, cannot be created, another of that name or of these keys. */
const NO_INDEX = [1, 13, 67, 85, 86]

/**
 * Creates a collection and its index, where missing.
 * @param {Db} db
 * @param {string} name
 * @param {{layout: Layout, key: string[], index: boolean, keepDays: number, isChosen: boolean}} options  `isChosen`: the user has named
 *   this very collection
 * @param {Log} [log]
 * @throws {SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function prepareCollection (db, name, { layout, key, index, keepDays, isChosen }, log) {
  const [found] = await db.listCollections({ name }).toArray()
  if (found) checkType(name, found.type ?? 'collection', layout)
  if (found && !isChosen) await checkOwner(db, name)
  try {
    if (!found && layout === 'timeseries') await createTimeSeries(db, name)
    else if (!found) await db.createCollection(name)
  } catch (error) {
    const { code } = /** @type {{code?: number}} */ (error)
    if (code === INVALID_NAMESPACE) {
      throw misfit(name, 'the server does not accept its name', 'Rename the source, or set another collection.')
    }
    if (code !== NAMESPACE_EXISTS) throw error
  }
  if (index && layout !== 'timeseries') await createIndex(db, name, indexOf(layout, key), log)
  if (index && layout === 'narrow' && keepDays > 0) await createIndex(db, name, { time_ns: 1 }, log) // to find what is too old
}

/** @param {Layout} layout @param {string[]} key @returns {Record<string, 1>} */
function indexOf (layout, key) {
  if (layout === UPSERT) return Object.fromEntries(key.map(field => [keyOf(field), 1]))
  if (layout === 'paper-individual' || layout === 'paper-bulk') return { time: 1 }
  return layout === 'narrow' ? { sensor: 1, time_ns: 1 } : { time_ns: 1 }
}

/**
 * Creates an index, where missing. Without one, queries are slow: no reason to keep the data waiting.
 * @param {Db} db
 * @param {string} collection
 * @param {Record<string, 1>} keys
 * @param {Log} [log]
 */
export async function createIndex (db, collection, keys, log) {
  try {
    await db.createIndex(collection, keys)
  } catch (error) {
    if (!NO_INDEX.includes(/** @type {any} */ (error).code)) throw error
    log?.warn(`The collection "${collection}" goes without an index on ${Object.keys(keys).join(' and ')}: ${describe(error)}`)
  }
}

/** @param {string} name @param {string} type @param {Layout} layout */
function checkType (name, type, layout) {
  if (type === (layout === 'timeseries' ? 'timeseries' : 'collection')) return
  if (type === 'timeseries') throw misfit(name, 'it is a time-series collection', 'Set the layout timeseries, or another collection.')
  const what = type === 'view' ? 'a view' : 'not a time-series collection'
  throw misfit(name, `it is ${what}`, 'Name the source or the collection differently.')
}

/**
 * Sluice's documents are known by their _id; whose a collection is does not matter while it is empty.
 * @param {Db} db
 * @param {string} name
 */
async function checkOwner (db, name) {
  const options = /** @type {const} */ ({ projection: { _id: 1 }, promoteBuffers: true, readPreference: 'primary' })
  const document = await db.collection(name).findOne({}, options)
  if (!document || isOwnId(document._id)) return
  throw misfit(name, 'its documents are not Sluice\'s, and only the name of the source leads to it',
    'Rename the source; or set this very collection, if it is meant.')
}

/** Whether a document is Sluice's. @param {unknown} id */
export function isOwnId (id) {
  if (typeof id === 'string') return id.length === UPSERT_ID_LENGTH && /^[0-9a-f]*$/.test(id)
  return id instanceof Uint8Array && ID_BYTES.includes(id.length)
}

/** @param {Db} db @param {string} name */
async function createTimeSeries (db, name) {
  try {
    await db.createCollection(name, { timeseries: { timeField: 'time', metaField: 'meta' } })
  } catch (error) {
    if (!NO_TIME_SERIES.includes(/** @type {any} */ (error).code)) throw error
    const message = `The collection "${name}" cannot be created: the server has no time-series collections.`
    throw new SluiceError('SLUICE_SINK_TIMESERIES', message, {
      cause: error, fix: 'Set another layout, or use MongoDB 5.0 or newer.'
    })
  }
}
