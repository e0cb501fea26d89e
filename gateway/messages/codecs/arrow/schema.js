import { MAX_COLUMNS, MAX_DICTIONARY_BYTES } from '../../bounds.js'
import { Table } from './flatbuffer.js'
import { BEFORE_TAIL_BYTES, DIGITS, Header, Key, SEQ_TAIL_BYTES, Type, arrowError } from './format.js'
import { Kept } from './kept.js'
import { INT32, dictionaryKind, integerKind, kindOf, whyNotRead } from './columns.js'
import { passOver } from './layout.js'
import { listKind } from './lists.js'

/**
 * @typedef {import('../../../batch/batch.js').Field} Field
 * @typedef {import('./columns.js').ColumnKind} ColumnKind
 * @typedef {import('../../../batch/time.js').TimeUnit} TimeUnit
 *
 * @typedef {object} Schema
 * @property {(ColumnKind|null)[]} columns  all there are; null: not read
 * @property {((body: import('./body.js').Body) => void)[]} passOver  the columns that are not read, in their order
 * @property {{name: string, reason: string}[]} unread  why they are not
 * @property {ColumnKind[]} kinds  of all columns that are read, the time included
 * @property {number} timeColumn  among those
 * @property {TimeUnit} timeUnit
 * @property {Field[]} fields  frozen
 * @property {number} ordinalColumn  among all but the time; -1: there is none
 * @property {boolean[]|null} areLists  by field; null where none is
 * @property {(string|null)[]} tagNames  by column that is read, but these two: null of a field
 * @property {Map<number, {kind: ColumnKind|null, entries: unknown[]}>} dictionaries  by number; filled by the stream's dictionary batches
 * @property {Record<string, string|undefined>} metadata  the values under Sluice's keys
 * @property {Record<string, string>} tags  that all rows have; frozen
 * @property {{bytes: number}} room  for what dictionaries stand for
 */

const MAX_METADATA = 256
const MAX_TEXT_BYTES = 64 * 1024
const TIME_NAMES = ['time', 'timestamp', 'ts']

const MAX_KEPT_BYTES = 64 * 1024

/**
 * Schemas of Sluice's own streams, by their bytes but for the digits of before and seq: a source's messages differ in nothing else.
 * @type {Kept<Schema>}
 */
const known = new Kept()

/**
 * The schema that the first message's metadata holds, one object for all messages of a shape, and the digits of before and seq.
 * @param {Buffer} metadata
 * @returns {{schema: Schema, before: string|undefined, seq: string|undefined}}
 */
export function readSchema (metadata) {
  const beforeAt = metadata.length - BEFORE_TAIL_BYTES
  const seqAt = metadata.length - SEQ_TAIL_BYTES
  const digits = (/** @type {number} */ at) => metadata.toString('latin1', at, at + DIGITS)
  const head = metadata.toString('latin1', 0, Math.max(beforeAt, 0))
  const between = metadata.toString('latin1', Math.max(beforeAt + DIGITS, 0), Math.max(seqAt, 0))
  const kept = known.get(head + between)
  if (kept) return { schema: kept, before: digits(beforeAt), seq: digits(seqAt) }

  const header = headerOf(metadata)
  const schema = parse(header)
  const isInPlace = (/** @type {string} */ key, /** @type {number} */ at) => {
    const found = header.tables(2, MAX_METADATA).find(pair => pair.string(0)?.toString('latin1') === key)?.vector(1)
    return found?.at === at && found.count === DIGITS
  }
  if (isInPlace(Key.seq, seqAt) && isInPlace(Key.before, beforeAt) && metadata.length <= MAX_KEPT_BYTES) {
    known.set(head + between, schema, metadata.length)
  }
  return { schema, before: schema.metadata[Key.before], seq: schema.metadata[Key.seq] }
}

/** The Schema table in a message's metadata. @param {Buffer} metadata */
function headerOf (metadata) {
  const message = Table.root(new DataView(metadata.buffer, metadata.byteOffset, metadata.length))
  const header = message.table(2)
  if (message.uint8(1) !== Header.schema || !header) throw arrowError('it does not begin with a schema')
  return header
}

/** @param {Table} header @returns {Schema} */
function parse (header) {
  if (header.int16(0) !== 0) throw arrowError('its numbers are big-endian')
  /** @type {Schema['dictionaries']} */
  const dictionaries = new Map()
  const room = { bytes: MAX_DICTIONARY_BYTES }
  /** @type {Schema['passOver']} */
  const passed = []
  /** @type {Schema['unread']} */
  const unread = []
  const all = header.tables(1, MAX_COLUMNS).map(field => {
    const name = textOf(field.string(0))
    const typeType = field.uint8(2)
    const kind = fieldKind(field, name, dictionaries, room)
    if (!kind) {
      passed.push(passOver(field, id => dictionaryOf(dictionaries, id, null)))
      if (typeType !== Type.null) unread.push({ name, reason: whyNotRead(typesOf(field), name) })
      return null
    }
    const { [Key.unit]: unit = kind.unit, [Key.tag]: tagName, [Key.ordinal]: ordinal } = pairs(field, 6, [Key.unit, Key.tag, Key.ordinal])
    const { type } = kind
    const tag = type === 'string' && !kind.isList ? tagName ?? null : null
    const isOrdinal = type === 'int32' && !kind.isList && ordinal !== undefined
    const isTime = typeType === Type.timestamp && !field.table(4)
    return { kind, tag, isTime, isOrdinal, field: Object.freeze(unit ? { name, type, unit } : { name, type }) }
  })
  const columns = all.filter(column => column !== null)
  const names = columns.filter(({ kind }) => !kind.isList).map(({ field }) => field.name)
  if (new Set(names).size < names.length) throw arrowError('two of its columns have one name')
  const timeColumn = findTime(columns)
  const metadata = pairs(header, 2, Object.values(Key))
  const untimed = columns.filter((_, c) => c !== timeColumn)
  const ordinalColumn = untimed.findIndex(({ isOrdinal }) => isOrdinal)
  const others = untimed.filter((_, c) => c !== ordinalColumn)
  const fields = others.filter(({ tag }) => tag === null)
  const areLists = fields.map(({ kind }) => Boolean(kind.isList))
  return {
    columns: all.map(column => column && column.kind),
    passOver: passed,
    unread,
    kinds: columns.map(({ kind }) => kind),
    timeColumn,
    timeUnit: /** @type {TimeUnit} */ (columns[timeColumn].kind.unit),
    fields: /** @type {Field[]} */ (Object.freeze(fields.map(({ field }) => field))),
    areLists: areLists.includes(true) ? areLists : null,
    tagNames: others.map(({ tag }) => tag),
    ordinalColumn,
    dictionaries,
    room,
    metadata,
    tags: Object.freeze(parseTags(metadata[Key.tags] ?? '{}'))
  }
}

/**
 * The column of the samples' times: the one called `time`, `timestamp` or `ts`, else the first timestamp.
 * @param {{field: Field, isTime: boolean, kind: ColumnKind}[]} columns
 */
function findTime (columns) {
  const times = columns.filter(({ isTime }) => isTime)
  const time = TIME_NAMES.map(name => times.find(({ field }) => field.name === name)).find(Boolean) ?? times[0]
  if (!time) throw arrowError('it has no timestamp column; add one called "time"')
  const taken = columns.find(column => column !== time && column.field.name === 'time' && !column.kind.isList)
  if (taken) throw arrowError('its column "time" is not a timestamp')
  return columns.indexOf(time)
}

/**
 * How a field is read; null where it is not.
 * @param {Table} field @param {string} name @param {Schema['dictionaries']} dictionaries @param {Schema['room']} room
 * @returns {ColumnKind|null}
 */
function fieldKind (field, name, dictionaries, room) {
  const typeType = field.uint8(2)
  const encoding = field.table(4)
  if (isList(field)) {
    const [element] = field.tables(5, 1)
    const kind = !encoding && element && !isList(element) ? fieldKind(element, name, dictionaries, room) : null
    return kind && listKind(typeType, field.table(3), kind)
  }
  const plain = kindOf(typeType, field.table(3), name, room)
  return encoding ? encoded(encoding, plain, name, dictionaries, room) : plain
}

/** @param {Table} field */
function isList (field) {
  const type = field.uint8(2)
  return type === Type.list || type === Type.largeList || type === Type.fixedSizeList
}

/** Its type, and of a list that of the elements. @param {Table} field */
function typesOf (field) {
  return [field, ...(isList(field) ? field.tables(5, 1) : [])].map(part => part.uint8(2))
}

/**
 * @param {Table} encoding @param {ColumnKind|null} entry @param {string} name @param {Schema['dictionaries']} dictionaries
 * @param {{bytes: number}} room  for what dictionaries stand for
 * @returns {ColumnKind|null}
 */
function encoded (encoding, entry, name, dictionaries, room) {
  const index = encoding.table(1)
  const id = encoding.size(0)
  const dictionary = dictionaryOf(dictionaries, id, entry)
  const indices = index ? integerKind(index, name) : INT32
  return entry && indices && dictionaryKind(indices, { kind: entry, entries: dictionary.entries }, room)
}

/**
 * The dictionary of a number, which several columns may share.
 * @param {Schema['dictionaries']} dictionaries @param {number} id @param {ColumnKind|null} kind  of its entries; null: they are not read
 */
function dictionaryOf (dictionaries, id, kind) {
  const dictionary = dictionaries.get(id) ?? { kind, entries: [] }
  dictionary.kind ??= kind
  dictionaries.set(id, dictionary)
  return dictionary
}

/**
 * The values of a metadata vector under the wanted keys.
 * @param {Table} owner @param {number} slot @param {string[]} wanted
 */
function pairs (owner, slot, wanted) {
  /** @type {Record<string, string|undefined>} */
  const found = {}
  for (const pair of owner.tables(slot, MAX_METADATA)) {
    const bytes = pair.string(0)
    const key = bytes && wanted.find(name => name.length === bytes.length && name === bytes.toString('latin1'))
    if (key) found[key] = textOf(pair.string(1))
  }
  return found
}

/** @param {Buffer|null} bytes */
function textOf (bytes) {
  if (bytes && bytes.length > MAX_TEXT_BYTES) throw arrowError(`a name or metadata value is ${bytes.length} bytes long`)
  return bytes?.toString() ?? ''
}

/** @param {string} json @returns {Record<string, string>} */
function parseTags (json) {
  const tags = JSON.parse(json)
  if (typeof tags !== 'object' || tags === null || !Object.values(tags).every(value => typeof value === 'string')) {
    throw arrowError(`its tags are not an object of strings: ${json.slice(0, 100)}`)
  }
  return tags
}
