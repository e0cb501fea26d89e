import { createHash } from 'node:crypto'
import { Binary, Double, Int32, Long } from 'mongodb'
import { floor } from '../../batch/layouts.js'
import { RefusedRows } from '../refusal.js'
import { EPOCH, ORIGIN, SEQ } from '../upsert/layout.js'
import { cellsOf, versionsOf } from '../upsert/rows.js'
import { MAX_DOCUMENT_BYTES, presence, UPSERT_ID_LENGTH } from './documents.js'
import { DUPLICATE_KEY, hasUniqueIndex, REFUSED, WRITE_CONCERN } from './insert.js'
import { constantsOf } from './names.js'

/**
 * Documents of the layout upsert: a batch's take the place of older ones with their key, whole.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{batch: Batch, part: Batch, keys: import('./names.js').Keys}} Part  `part` of `batch`: rows of different keys, with the same
 *   tags
 * @typedef {{batch: Batch, row: number, filter: any, document: any}} Replacement
 */

const AT_ONCE = 1000

/** FerretDB 1 takes a connection of its pool for each update of a command, and waits for ever when there are none left. */
const FERRETDB_AT_ONCE = 10

/**
 * @param {import('mongodb').Db} db
 * @param {string} name  of the collection
 * @param {Part[]} parts
 * @param {{key: readonly string[], finiteOnly: boolean, signal?: AbortSignal}} options
 * @throws {RefusedRows}
 */
export async function upsert (db, name, parts, { key, finiteOnly, signal }) {
  const collection = db.collection(name, { writeConcern: WRITE_CONCERN })
  const all = parts.flatMap(part => replacements(part, key, finiteOnly))
  const [small, large] = [false, true].map(isLarge => all.filter(({ document }) => (bytesOf(document) > MAX_DOCUMENT_BYTES) === isLarge))
  /** @type {{batch: Batch, row: number, error: Error}[]} */
  const faults = large.map(({ batch, row }) => ({ batch, row, error: new Error('It is larger than a document may be, 16 MiB') }))
  /** @type {Replacement[]} */
  const met = []
  const refuse = (/** @type {Replacement} */ { batch, row }, /** @type {import('./insert.js').WriteError} */ { code, errmsg }) =>
    faults.push({ batch, row, error: Object.assign(new Error(`MongoDB: ${errmsg}`), { code }) })
  // Not as an upsert: where the document that is there is newer, that fails, and FerretDB then leaves out what comes after it.
  for (const error of await errorsOf(small, () => collection.insertMany(small.map(({ document }) => document), { ordered: false }))) {
    const { index, code, keyPattern } = error
    if (code === DUPLICATE_KEY && (keyPattern ? '_id' in keyPattern : !await hasUniqueIndex(db, name))) met.push(small[index])
    else refuse(small[index], error)
  }
  signal?.throwIfAborted()
  const atOnce = finiteOnly ? FERRETDB_AT_ONCE : AT_ONCE
  for (let from = 0; from < met.length; from += atOnce) {
    const some = met.slice(from, from + atOnce)
    const operations = some.map(({ filter, document: { _id, ...replacement } }) => ({ replaceOne: { filter, replacement } }))
    for (const error of await errorsOf(some, () => collection.bulkWrite(operations, { ordered: false }))) refuse(some[error.index], error)
    signal?.throwIfAborted()
  }
  if (faults.length > 0) throw new RefusedRows(faults)
}

/**
 * @param {Replacement[]} documents
 * @param {() => Promise<unknown>} write
 * @returns {Promise<import('./insert.js').WriteError[]>} of what the server refuses
 */
async function errorsOf (documents, write) {
  if (documents.length === 0) return []
  try {
    await write()
    return []
  } catch (error) {
    const { writeErrors } = /** @type {any} */ (error)
    const errors = [writeErrors ?? []].flat().map(({ err, index, code, errmsg }) =>
      ({ index: err?.index ?? index, code: err?.code ?? code, errmsg: err?.errmsg ?? errmsg, keyPattern: err?.keyPattern }))
    if (errors.length === 0 || errors.some(({ code }) => !REFUSED.has(code))) throw error
    return errors
  }
}

/** @param {Part} part @param {readonly string[]} key @param {boolean} finiteOnly @returns {Replacement[]} */
function replacements ({ batch, part, keys }, key, finiteOnly) {
  const versions = versionsOf(part)
  const rowOf = new Map(Array.from(batch.time.keys(), row => [batch.rowNumber(row), row]))
  const constants = Object.fromEntries(constantsOf(keys, part))
  const fields = keys.fields.map(({ key: name, field }) => {
    const cell = cells[part.fields[field].type]
    return { name, field, cell, there: presence(part, field, finiteOnly) }
  })
  const keyCells = key.map(name => cellsOf(part, name))
  return Array.from(part.time.keys(), row => {
    const time = part.time[row]
    const [origin, epoch, seq] = [versions.origin[row], versions.epoch[row], versions.seq[row]]
    const version = { [ORIGIN]: Long.fromBigInt(origin), [EPOCH]: Long.fromBigInt(epoch), [SEQ]: Long.fromBigInt(seq) }
    const values = fields.filter(({ there }) => there?.[row] !== 0)
      .map(({ name, field, cell }) => [name, cell(part.columns[field][row])])
    const document = {
      _id: idOf(origin, keyCells.map(cell => cell(row))),
      time: new Date(Number(floor(time, 1_000_000n) / 1_000_000n)),
      time_ns: Long.fromBigInt(time),
      ...constants,
      ...Object.fromEntries(values), // whatever their names: an assignment would take __proto__ for more
      ...version
    }
    const isOlder = [
      { [EPOCH]: { [epoch < 0n ? '$ne' : '$lt']: version[EPOCH] } },
      { [EPOCH]: version[EPOCH], [SEQ]: { $lt: version[SEQ] } }
    ]
    const filter = { _id: document._id, $or: isOlder }
    return { batch, row: /** @type {number} */ (rowOf.get(part.rowNumber(row))), filter, document }
  })
}

/** A text: FerretDB finds no bytes by its index. @param {bigint} origin @param {unknown[]} values  of the key */
function idOf (origin, values) {
  return createHash('sha256').update(JSON.stringify([origin, ...values].map(String))).digest('hex').slice(0, UPSERT_ID_LENGTH)
}

/** What a column's cell is stored as. @type {Record<import('../../batch/batch.js').FieldType, (cell: any) => unknown>} */
const cells = {
  float64: cell => new Double(cell),
  float32: cell => new Double(cell),
  int64: cell => Long.fromBigInt(cell),
  int32: cell => new Int32(cell),
  int16: cell => new Int32(cell),
  uint16: cell => new Int32(cell),
  bool: cell => cell === 1,
  string: cell => cell,
  bytes: cell => new Binary(cell)
}

/** About how many bytes a document takes, of which only texts and bytes can be many. @param {Record<string, any>} document */
function bytesOf (document) {
  return Object.values(document).reduce((sum, value) => sum + 32 +
    (typeof value === 'string' ? Buffer.byteLength(value) : value instanceof Binary ? value.length() : 0), 1024)
}
