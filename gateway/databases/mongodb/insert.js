// The class by which the driver sends documents that it has serialized as a sequence of BSON behind the command. It does not export it, but
// nothing else sends BSON that was serialized elsewhere: objects, one per row, take several times as long to create and to serialize.
// @ts-expect-error The driver has no types of what it does not export.
import commands from 'mongodb/lib/cmap/commands.js'

/**
 * @typedef {import('./chunks.js').Message} Message
 * @typedef {{index: number, code: number, errmsg?: string, keyPattern?: Record<string, unknown>}} WriteError
 * @typedef {{encoded: import('./chunks.js').Encoded, i: number, error: Error}} RefusedDocument
 */

/**
 * Stored on the disks of most members before it is acknowledged: with less, a kill of the server or a change of the primary could take back
 * what the spool has released. What waits longer for members that are away is an error, and is tried again.
 */
export const WRITE_CONCERN = { w: /** @type {const} */ ('majority'), journal: true, wtimeoutMS: 30_000 }
const RAW_WRITE_CONCERN = { w: 'majority', j: true, wtimeout: 30_000 }

export const DUPLICATE_KEY = 11000

/**
 * Codes by which the server reports that a document is at fault: bad value, type, keys, size, validation, and what an index of the user's
 * cannot hold.
 */
export const REFUSED = new Set([2, 9, 14, 22, 52, 53, 55, 56, 57, 121, 171, 10334, 16755, 16766, 17262, 17280, DUPLICATE_KEY])

const LOOKED_UP_AT_ONCE = 1000

/**
 * Inserts documents; those that are stored already stay as they are.
 * @param {import('mongodb').Db} db
 * @param {string} collection
 * @param {Message} message
 * @param {AbortSignal} [signal]
 * @returns {Promise<RefusedDocument[]>}
 */
export async function insert (db, collection, { bytes, documents }, signal) {
  const sequence = new commands.DocumentSequence('documents')
  sequence.push(null, bytes)
  const command = { insert: collection, ordered: false, writeConcern: RAW_WRITE_CONCERN, documents: sequence }
  const reply = await db.command(command, { signal, readPreference: 'primary' })
  /** @type {WriteError[]} */
  const errors = reply.writeErrors ?? []
  const unknown = errors.find(({ code }) => !REFUSED.has(code))
  if (unknown) throw Object.assign(new Error(unknown.errmsg), { code: unknown.code })
  const missing = await withoutStored(db, collection, errors, index => documents[index].encoded.documents.idOf(documents[index].i))
  return missing.map(({ index, code, errmsg }) => {
    return { ...documents[index], error: Object.assign(new Error(`MongoDB: ${errmsg}`), { code }) }
  })
}

/**
 * The errors of documents that are not stored. A duplicate _id means that the document is, but another unique index may have refused it;
 * old servers and FerretDB do not report which, so they are asked for the documents.
 * @param {import('mongodb').Db} db
 * @param {string} collection
 * @param {WriteError[]} errors
 * @param {(index: number) => Buffer} idOf
 */
async function withoutStored (db, collection, errors, idOf) {
  const refused = errors.filter(({ code, keyPattern }) => code !== DUPLICATE_KEY || (keyPattern && !('_id' in keyPattern)))
  const unclear = errors.filter(({ code, keyPattern }) => code === DUPLICATE_KEY && !keyPattern)
  // Looking up thousands of documents takes FerretDB many seconds, and nearly always there is no other unique index.
  if (unclear.length === 0 || !await hasUniqueIndex(db, collection)) return refused
  for (let from = 0; from < unclear.length; from += LOOKED_UP_AT_ONCE) {
    const some = unclear.slice(from, from + LOOKED_UP_AT_ONCE)
    const ids = /** @type {any[]} */ (some.map(({ index }) => idOf(index)))
    const found = db.collection(collection).find({ _id: { $in: ids } }, { projection: { _id: 1 }, promoteBuffers: true })
    const stored = new Set()
    for await (const { _id } of found) stored.add(Buffer.from(/** @type {any} */ (_id)).toString('hex'))
    refused.push(...some.filter(({ index }) => !stored.has(idOf(index).toString('hex'))))
  }
  return refused
}

/** Besides that of _id. @param {import('mongodb').Db} db @param {string} collection */
export async function hasUniqueIndex (db, collection) {
  const indexes = await db.collection(collection).indexes()
  return indexes.some(({ name, unique }) => unique && name !== '_id_')
}
