import { Batch, COLUMN_TYPES } from '../../../batch/batch.js'
import { NANOSECONDS_PER } from '../../../batch/time.js'
import { MAX_CELLS, MAX_DICTIONARY_BYTES, tooLarge } from '../../bounds.js'
import { Body } from './body.js'
import { roomToUnpack } from './compression.js'
import { Table } from './flatbuffer.js'
import { CONTINUATION, Header, Key, PREFIX_BYTES, arrowError } from './format.js'
import { spreadLists } from './lists.js'
import { readSchema } from './schema.js'

/**
 * @typedef {import('../../../batch/batch.js').Column} Column
 * @typedef {import('../../../batch/batch.js').Identity} Identity
 * @typedef {import('./schema.js').Schema} Schema
 * @typedef {{column: Column, valid: Uint8Array|null}} ReadColumn
 */

const MAX_TIME_NS = 2n ** 63n - 1n
const MAX_ANCESTORS = 8

/**
 * @param {Uint8Array} bytes  at a multiple of eight in their memory @param {string} [source]
 * @param {import('./body.js').Refuse} [onRefused]  see `decode` in arrow.js
 * @returns {Batch}
 */
export function readBatch (bytes, source, onRefused) {
  const stream = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = metadataAt(stream, 0)
  if (!start) throw arrowError('it is empty')
  const { schema, ...digits } = readSchema(start)
  for (const { name, reason } of schema.unread) {
    if (!onRefused || schema.fields.length === 0) throw arrowError(reason)
    onRefused(-1, reason, name)
  }
  try {
    return readRecords(stream, PREFIX_BYTES + start.length, schema, identityOf(schema, digits), { source, onRefused })
  } finally { // the next stream of this shape has dictionaries of its own
    for (const { entries } of schema.dictionaries.values()) entries.length = 0
    schema.room.bytes = MAX_DICTIONARY_BYTES
  }
}

/**
 * @param {Buffer} stream @param {number} at  where its second message begins
 * @param {Schema} schema @param {Identity|null} identity
 * @param {{source?: string, onRefused?: import('./body.js').Refuse}} options
 */
function readRecords (stream, at, schema, identity, { source, onRefused }) {
  const own = schema.metadata[Key.source]
  /** @type {ReadColumn[][]} */
  const records = []
  const room = { cells: MAX_CELLS, bytes: roomToUnpack(stream.length), rows: 0 }
  for (;;) {
    // Third-party streams may omit the end marker; one of Sluice's own without it was cut short.
    if (at === stream.length && own === undefined) break
    const metadata = metadataAt(stream, at)
    if (!metadata) break
    const message = Table.root(new DataView(metadata.buffer, metadata.byteOffset, metadata.length))
    const bodyAt = at + PREFIX_BYTES + metadata.length
    at = bodyAt + message.size(3)
    if (at > stream.length) throw arrowError(`it is cut short at byte ${stream.length} of at least ${at}`)
    readMessage(message, stream.subarray(bodyAt, at), schema, records, room, onRefused)
  }
  const columns = records.length === 1 ? records[0] : schema.kinds.map((kind, c) => join(records.map(record => record[c]), kind))
  const [time] = columns.splice(schema.timeColumn, 1)
  const [ordinals] = schema.ordinalColumn < 0 ? [] : columns.splice(schema.ordinalColumn, 1)
  const read = columns.filter((_, c) => schema.tagNames[c] === null)
  const { fields, columns: values } = fieldsOf(schema, read, time.column.length, onRefused)
  return new Batch({
    source: own ?? source ?? '',
    time: nanoseconds(time, schema),
    fields,
    columns: values.map(({ column }) => column),
    validity: values.map(({ valid }) => valid),
    tags: tagsOf(schema, columns),
    ordinals: /** @type {Int32Array|undefined} */ (ordinals?.column),
    identity
  })
}

/**
 * @param {Schema} schema @param {ReadColumn[]} read  its fields @param {number} rows @param {import('./body.js').Refuse} [onRefused]
 * @returns {{fields: import('../../../batch/batch.js').Field[], columns: ReadColumn[]}}
 */
function fieldsOf ({ fields, areLists }, read, rows, onRefused) {
  if (!areLists) return { fields, columns: read }
  const spread = spreadLists(fields, read, areLists, rows, (reason, name) => {
    if (!onRefused || fields.length === 1) throw arrowError(reason)
    onRefused(-1, reason, name)
  })
  return { fields: spread.map(({ field }) => field), columns: spread }
}

/** @param {Schema} schema @param {ReadColumn[]} columns  all but the time @returns {import('../../../batch/tags.js').Tags} */
function tagsOf ({ tags, tagNames }, columns) {
  if (tagNames.every(name => name === null)) return tags
  const varying = tagNames.flatMap((name, c) => {
    const { column: values, valid } = columns[c]
    return name === null ? [] : [[name, { values, valid }]]
  })
  return { ...tags, ...Object.fromEntries(varying) }
}

/** The identity that the first message carries. @param {Uint8Array} bytes */
export function readIdentity (bytes) {
  const metadata = metadataAt(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0)
  if (!metadata) throw arrowError('it is empty')
  const { schema, ...digits } = readSchema(metadata)
  return identityOf(schema, digits)
}

/** The metadata of the message at a byte; null at the end of the stream. @param {Buffer} stream @param {number} at */
function metadataAt (stream, at) {
  const from = at + PREFIX_BYTES
  if (from > stream.length) throw arrowError(`it is cut short at byte ${stream.length}`)
  if (stream.readUInt32LE(at) !== CONTINUATION) throw arrowError(`there is no message at byte ${at}`)
  const length = stream.readUInt32LE(at + 4)
  if (length === 0) return null
  if (from + length > stream.length) throw arrowError(`it is cut short at byte ${stream.length} of at least ${from + length}`)
  return stream.subarray(from, from + length)
}

/**
 * @param {Table} message @param {Buffer} body @param {Schema} schema @param {ReadColumn[][]} records
 * @param {{cells: number, bytes: number, rows: number}} room  that is left, and the rows so far
 * @param {import('./body.js').Refuse} [onRefused]
 */
function readMessage (message, body, { columns, passOver, dictionaries }, records, room, onRefused) {
  const header = message.table(2)
  if (!header) throw arrowError('a message has no header')
  if (message.uint8(1) === Header.recordBatch) {
    const from = room.rows
    const record = new Body(header, body, room, onRefused && ((row, reason, value) => onRefused(from + row, reason, value)))
    room.rows += record.rows
    room.cells -= record.rows * columns.length
    if (room.cells < 0) throw tooLarge(`it has over ${MAX_CELLS} values, missing ones included`)
    let passed = 0
    /** @type {ReadColumn[]} */
    const read = []
    for (const kind of columns) {
      if (kind) read.push(record.column(kind.read))
      else passOver[passed++](record)
    }
    records.push(read)
  } else if (message.uint8(1) === Header.dictionaryBatch) {
    const dictionary = dictionaries.get(header.size(0))
    const record = header.table(1)
    if (!dictionary || !record) throw arrowError(`no column uses its dictionary ${header.size(0)}`)
    if (!dictionary.kind) return
    const { column, valid } = new Body(record, body, room).column(dictionary.kind.read)
    if (valid) throw arrowError('an entry of a dictionary is missing')
    if (!header.uint8(2)) dictionary.entries.length = 0
    for (const entry of column) dictionary.entries.push(entry)
  } else {
    throw arrowError(`a message of type ${message.uint8(1)} after its schema`)
  }
}

/**
 * One column of several record batches.
 * @param {ReadColumn[]} chunks
 * @param {import('./columns.js').ColumnKind} kind
 * @returns {ReadColumn}
 */
function join (chunks, { type, isList }) {
  if (isList) return { column: chunks.flatMap((/** @type {any} */ { column }) => column), valid: null }
  const rows = chunks.reduce((sum, { column }) => sum + column.length, 0)
  const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(rows)
  const valid = chunks.some(chunk => chunk.valid) ? new Uint8Array(rows).fill(1) : null
  let at = 0
  for (const chunk of chunks) {
    for (let row = 0; row < chunk.column.length; row++) column[at + row] = chunk.column[row]
    if (chunk.valid) valid?.set(chunk.valid, at)
    at += chunk.column.length
  }
  return { column, valid }
}

/** Times in nanoseconds; one that is missing or beyond 2262 is 0. @param {ReadColumn} time @param {Schema} schema */
function nanoseconds ({ column, valid }, { timeUnit }) {
  const times = /** @type {BigInt64Array} */ (column)
  const scale = NANOSECONDS_PER[timeUnit]
  if (scale === 1n && !valid) return times
  return times.map((time, row) => (valid && !valid[row]) || time > MAX_TIME_NS / scale || time < 0n ? 0n : time * scale)
}

/** @param {Schema} schema @param {{before: string|undefined, seq: string|undefined}} digits @returns {Identity|null} */
function identityOf ({ metadata }, { before, seq }) {
  const { [Key.gateway]: gateway, [Key.source]: source, [Key.epoch]: epoch, [Key.ancestors]: ancestors } = metadata
  if (gateway === undefined || source === undefined || epoch === undefined || seq === undefined) return null
  /** @type {Identity} */
  const identity = { gateway, source, epoch, seq: wholeNumber('seq', seq) }
  if (before !== undefined) identity.before = wholeNumber('before', before)
  if (ancestors !== undefined) identity.ancestors = parseAncestors(ancestors)
  return identity
}

/** @param {string} name @param {string} digits */
function wholeNumber (name, digits) {
  const number = Number(digits)
  if (!/^\d+$/.test(digits) || !Number.isSafeInteger(number)) throw arrowError(`its ${name} "${digits}" is not a whole number`)
  return number
}

/** @param {string} json @returns {Identity['ancestors']} */
function parseAncestors (json) {
  const ancestors = JSON.parse(json)
  const isAncestor = (/** @type {any} */ { epoch, seq, hash }) => typeof epoch === 'string' && isWhole(seq) && isWhole(hash)
  if (!Array.isArray(ancestors) || ancestors.length > MAX_ANCESTORS || !ancestors.every(isAncestor)) {
    throw arrowError(`its ancestors are not at most ${MAX_ANCESTORS} of {epoch, seq, hash}: ${json.slice(0, 100)}`)
  }
  return ancestors.map(({ epoch, seq, hash, from }) => ({ epoch, seq, hash, ...isWhole(from) && { from } }))
}

/** @param {unknown} value */
function isWhole (value) {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
