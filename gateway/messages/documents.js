import { SluiceError } from '../base/errors.js'
import { dateAsText, isBare, isPlainObject, timed } from './rows.js'
import { MAX_FIELDS } from './bounds.js'

/**
 * The rows of documents, as the nodes for MongoDB accept them: one in msg.payload, or an array of them, for the collection in
 * msg.collection; with msg.operation, msg.payload holds the arguments of that operation.
 *
 * @typedef {import('./rows.js').PlainObject} PlainObject
 * @typedef {import('./contents.js').Contents} Contents
 * @typedef {import('./contents.js').Message} Message
 */

/** How deeply objects may be nested. */
export const MAX_DEPTH = 8

/** What a document of our MongoDB sink begins with: its _id names a batch and row, and says nothing about another. */
const OWN_KEYS = ['_id', 'time', 'time_ns']

const INSERTS = new Set(['insertOne', 'insertMany'])
const OTHER_OPERATIONS = new Set([
  'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany', 'find', 'findOne', 'findOneAndUpdate', 'findOneAndReplace',
  'findOneAndDelete',
  'aggregate', 'count', 'countDocuments', 'estimatedDocumentCount', 'distinct', 'bulkWrite'
])

/**
 * @param {Message} message
 * @returns {Contents|null} null where nothing indicates that it carries documents
 * @throws {SluiceError} SLUICE_PAYLOAD_OPERATION
 */
export function documentsOf ({ payload, collection, operation }) {
  if (typeof operation === 'string' && OTHER_OPERATIONS.has(operation)) {
    throw new SluiceError('SLUICE_PAYLOAD_OPERATION', `A sink only inserts, and msg.operation is "${operation}".`, {
      fix: 'Keep your node for that; to store msg.payload, delete msg.operation.'
    })
  }
  const inserts = typeof operation === 'string' && INSERTS.has(operation)
  const fallback = nameOf(collection)
  if (!inserts && fallback === undefined) return null
  const documents = inserts && Array.isArray(payload) ? payload[0] : payload // what follows are the driver's options
  if (isPlainObject(documents)) return { rows: [documents], read: readDocument, fallback }
  const [first] = Array.isArray(documents) ? documents : []
  if (Array.isArray(first) && first.every(isPlainObject)) return { rows: first, read: readDocument, fallback }
  return isPlainObject(first) ? { rows: /** @type {unknown[]} */ (documents), read: readDocument, fallback } : null
}

/** The name that a message gives for where its rows belong. @param {unknown} name  anything @returns {string|undefined} */
export function nameOf (name) {
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** One document as a row; null where it is not a document. @param {unknown} document */
export function readDocument (document) {
  if (!isPlainObject(document)) return null
  const row = timed(document)
  return { values: flatValues(document, row.timeKey), time: row.time, timeKey: row.timeKey }
}

/** The values of a document by the names of their fields. @param {PlainObject} document @param {string} [timeKey]  of what is left out */
export function flatValues (document, timeKey) {
  const isOurs = OWN_KEYS.every(key => Object.hasOwn(document, key))
  /** @type {Map<string, unknown>} */
  const values = new Map()
  for (const key of Object.keys(document)) {
    if (key === timeKey || (key === '_id' && isOurs)) continue
    flatten(values, key, key === '_id' ? idText(document[key]) : document[key], 1)
  }
  return Object.fromEntries(values)
}

/** MongoDB's ObjectId as the text that it is known by; any other as it is. @param {any} id */
function idText (id) {
  return typeof id?.toHexString === 'function' ? id.toHexString() : id
}

/**
 * Objects become fields with dots in their names, arrays of plain values fields with numbers; other values are left as they are.
 * @param {Map<string, unknown>} values @param {string} name @param {unknown} value @param {number} depth
 */
function flatten (values, name, value, depth) {
  if (isPlainObject(value) && depth < MAX_DEPTH) {
    for (const key of Object.keys(value)) flatten(values, `${name}.${key}`, value[key], depth + 1)
  } else if (Array.isArray(value) && value.length <= MAX_FIELDS && value.every(isBare)) {
    value.forEach((item, i) => add(values, `${name}${i}`, item))
  } else {
    add(values, name, dateAsText(value))
  }
}

/** @param {Map<string, unknown>} values @param {string} name @param {unknown} value */
function add (values, name, value) {
  if (values.has(name)) throw new SluiceError('SLUICE_PAYLOAD_NAMES', `Two values of the document would be called ${JSON.stringify(name)}.`)
  if (values.size === MAX_FIELDS) throw new SluiceError('SLUICE_PAYLOAD_NAMES', `The document has more than ${MAX_FIELDS} values.`)
  values.set(name, value)
}
