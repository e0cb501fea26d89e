import { Batch, COLUMN_TYPES } from '../../../batch/batch.js'
import { tagColumns } from '../../../batch/tags.js'
import { MAX_CELLS, tooLarge } from '../../bounds.js'
import { flatbuffer, int16, int32, int64, int8, string, structs, table, vector } from './flatbuffer.js'
import {
  BEFORE_TAIL_BYTES, CONTINUATION, DIGITS, Header, Key, METADATA_V5, PREFIX_BYTES, Precision, SEQ_TAIL_BYTES, TIME_UNITS, Type, arrowError,
  padded
} from './format.js'
import { Kept } from './kept.js'

/**
 * @typedef {import('../../../batch/batch.js').Field} Field
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {import('../../../batch/batch.js').Column} Column
 *
 * What batches of one shape share: the schema, and the other messages, whose sizes are set in place.
 * @typedef {{schema: Buffer, dictionaries: RecordTemplate[], record: RecordTemplate}} Template
 * @typedef {{bytes: Buffer, lengthAt: number, bodyLengthAt: number, nodesAt: number, buffersAt: number}} RecordTemplate
 *
 * What is in the body of a message: rows, and how many values each column misses.
 * @typedef {{rows: number, missing: number[], buffers: Uint8Array[]}} Body
 * @typedef {{template: RecordTemplate, body: Body, bodyLength: number}} Message
 */

const MAX_BYTES = 2 ** 31 - 1
const NO_BYTES = new Uint8Array(0)
const NO_TIMES = new BigInt64Array(0)

/** @type {Kept<Template>} */
const templates = new Kept()
/**
 * The template of the newest batch with these very fields: most batches of a source share them.
 * @type {WeakMap<Field[], {batch: Batch, template: Template}>}
 */
const newest = new WeakMap()

/**
 * The batch as an Arrow IPC stream: schema, one record batch, end of stream.
 * @param {Batch} batch
 * @returns {Buffer}
 * @throws {SluiceError} SLUICE_CODEC_ARROW when two fields have one name, a field is called `time`, or it is over 2 GiB;
 *   SLUICE_MESSAGE_TOO_LARGE when no decoder would accept it
 */
export function encode (batch) {
  const columns = tagColumns(batch.tags)
  const cells = batch.rows * (batch.fields.length + columns.length + (batch.ordinals ? 2 : 1))
  if (cells > MAX_CELLS) throw tooLarge(`${cells} values and times in a batch, over ${MAX_CELLS}`)
  const { schema, dictionaries, record } = templateOf(batch)
  const body = bodyOf(batch)
  const messages = columns.map(([, tag], i) => messageOf(dictionaries[i], pushDictionary(body, tag)))
  if (batch.ordinals) pushOrdinals(body, batch.ordinals)
  messages.push(messageOf(record, body))
  const total = messages.reduce((sum, { template, bodyLength }) => sum + template.bytes.length + bodyLength, schema.length + PREFIX_BYTES)
  if (total > MAX_BYTES) throw arrowError(`the batch of ${batch.rows} rows takes ${total} bytes, over 2 GiB`)

  const out = Buffer.allocUnsafe(total)
  out.set(schema)
  const { identity } = batch
  if (identity) setDigits(out, schema.length - SEQ_TAIL_BYTES, identity.seq)
  if (identity?.before !== undefined) setDigits(out, schema.length - BEFORE_TAIL_BYTES, identity.before)

  let at = schema.length
  for (const each of messages) at = put(out, at, each)
  out.writeUInt32LE(CONTINUATION, total - 8)
  out.writeUInt32LE(0, total - 4)
  return out
}

/** @param {RecordTemplate} template @param {Body} body @returns {Message} */
function messageOf (template, body) {
  return { template, body, bodyLength: body.buffers.reduce((sum, { byteLength }) => sum + padded(byteLength), 0) }
}

/** @param {Buffer} out @param {number} at @param {Message} message @returns {number} where it ends */
function put (out, at, { template, body: { rows, missing, buffers }, bodyLength }) {
  const setSize = (/** @type {number} */ position, /** @type {number} */ size) => { out.writeUInt32LE(size, at + position) }
  out.set(template.bytes, at)
  setSize(template.lengthAt, rows)
  setSize(template.bodyLengthAt, bodyLength)
  missing.forEach((count, i) => {
    setSize(template.nodesAt + i * 16, rows)
    setSize(template.nodesAt + i * 16 + 8, count)
  })
  const bodyAt = at + template.bytes.length
  let offset = 0
  buffers.forEach((bytes, i) => {
    setSize(template.buffersAt + i * 16, offset)
    setSize(template.buffersAt + i * 16 + 8, bytes.byteLength)
    out.set(bytes, bodyAt + offset)
    const end = offset + bytes.byteLength
    offset = padded(end)
    out.fill(0, bodyAt + end, bodyAt + offset)
  })
  return bodyAt + bodyLength
}

/** @param {Buffer} out @param {number} at @param {number} number */
function setDigits (out, at, number) {
  out.write(String(number).padStart(DIGITS, '0'), at, 'latin1')
}

/** @param {Batch} batch @returns {Template} */
function templateOf (batch) {
  const { source, identity, tags, fields, ordinals } = batch
  const last = newest.get(fields)
  if (last && isAlike(last.batch, batch)) return last.template
  const { gateway, epoch, before, ancestors } = identity ?? {}
  const { constants, columns } = partsOf(tags)
  const key = JSON.stringify([
    source, identity && [gateway, identity.source, epoch, before !== undefined, ancestors], constants, columns, fields, ordinals !== null
  ])
  let template = templates.get(key)
  if (!template) {
    if (identity && identity.source !== source) throw arrowError(`a batch of source "${source}" has the identity of "${identity.source}"`)
    template = makeTemplate(batch, constants, columns)
    const { schema, record, dictionaries } = template
    templates.set(key, template, schema.length + record.bytes.length + dictionaries.reduce((sum, { bytes }) => sum + bytes.length, 0))
  }
  if (columns.length === 0 && !ordinals) newest.set(fields, { batch: new Batch({ source, time: NO_TIMES, tags, identity }), template })
  return template
}

/** @param {import('../../../batch/tags.js').Tags} tags @returns {{constants: Record<string, string>, columns: string[]}} by name */
function partsOf (tags) {
  /** @type {Record<string, string>} */
  const constants = {}
  for (const [name, tag] of Object.entries(tags)) if (typeof tag === 'string') constants[name] = tag
  return { constants, columns: tagColumns(tags).map(([name]) => name) }
}

/** Whether two batches of the same fields differ in nothing but their rows and what is set in place. @param {Batch} a @param {Batch} b */
function isAlike ({ source, tags, identity: known }, { source: otherSource, tags: otherTags, identity, ordinals }) {
  if (source !== otherSource || tags !== otherTags || !known || !identity || ordinals) return false
  return known.epoch === identity.epoch && known.gateway === identity.gateway && known.source === identity.source &&
    (known.before === undefined) === (identity.before === undefined) && !known.ancestors && !identity.ancestors
}

/**
 * @param {Batch} batch
 * @param {Record<string, string>} tags  that all rows have
 * @param {string[]} tagNames  of those that vary by row
 * @returns {Template}
 */
function makeTemplate ({ source, identity, fields, ordinals }, tags, tagNames) {
  const names = new Set(['time'])
  for (const { name } of fields) {
    if (names.has(name)) throw arrowError(`source "${source}" has two columns called "${name}"`)
    names.add(name)
  }
  const metadata = [pair(Key.source, source)]
  if (Object.keys(tags).length) metadata.push(pair(Key.tags, JSON.stringify(tags)))
  // Before and seq come last in the bytes: BEFORE_TAIL_BYTES, SEQ_TAIL_BYTES.
  if (identity) {
    const digits = (/** @type {string} */ key) => table([string(key), string('0'.repeat(DIGITS), 8)])
    metadata.push(pair(Key.gateway, identity.gateway), pair(Key.epoch, identity.epoch))
    if (identity.ancestors) metadata.push(pair(Key.ancestors, JSON.stringify(identity.ancestors)))
    if (identity.before !== undefined) metadata.push(digits(Key.before))
    metadata.push(digits(Key.seq))
  }
  const freeName = (/** @type {string} */ name, /** @type {string} */ marked) => {
    const free = names.has(name) ? marked : name
    if (names.has(free)) throw arrowError(`source "${source}" has two columns called "${free}"`)
    names.add(free)
    return free
  }
  const columns = [
    column('time', false, Type.timestamp, table([int16(TIME_UNITS.indexOf('ns')), string('UTC')])),
    ...fields.map(({ name, type, unit }) => column(name, true, ...ARROW_TYPES[type], unit ? [pair(Key.unit, unit)] : [])),
    ...tagNames.map((name, id) => {
      return column(freeName(name, `${name}~tag`), true, ...ARROW_TYPES.string, [pair(Key.tag, name)], dictionaryEncoding(id))
    }),
    ...ordinals ? [column(freeName('ordinal', 'ordinal~row'), false, ...ARROW_TYPES.int32, [pair(Key.ordinal, '1')])] : []
  ]
  const schema = framed(message(Header.schema, table([int16(0), vector(columns), vector(metadata)])))

  const texts = fields.filter(({ type }) => COLUMN_TYPES[type] === Array).length
  const buffers = 2 * columns.length + texts
  return {
    schema,
    dictionaries: tagNames.map((_, id) => recordTemplate(Header.dictionaryBatch, 1, 3, record => table([int64(id), record]))),
    record: recordTemplate(Header.recordBatch, columns.length, buffers, record => record)
  }
}

/**
 * @param {number} headerType @param {number} columns @param {number} buffers
 * @param {(record: import('./flatbuffer.js').Child) => import('./flatbuffer.js').Child} wrap
 * @returns {RecordTemplate}
 */
function recordTemplate (headerType, columns, buffers, wrap) {
  let bodyLengthAt = 0
  let lengthAt = 0
  let nodesAt = 0
  let buffersAt = 0
  const bytes = framed(message(headerType, wrap(table([
    int64(0),
    structs(columns, 16, at => { nodesAt = at + PREFIX_BYTES }),
    structs(buffers, 16, at => { buffersAt = at + PREFIX_BYTES })
  ], positions => { lengthAt = positions[0] + PREFIX_BYTES })), positions => { bodyLengthAt = positions[3] + PREFIX_BYTES }))
  return { bytes, lengthAt, bodyLengthAt, nodesAt, buffersAt }
}

/** Indices are int32. @param {number} id */
function dictionaryEncoding (id) {
  return table([int64(id), ARROW_TYPES.int32[1]])
}

/** @param {number} headerType @param {import('./flatbuffer.js').Child} header @param {(positions: number[]) => void} [placed] */
function message (headerType, header, placed) {
  return table([int16(METADATA_V5), int8(headerType), header, int64(0)], placed)
}

/**
 * @param {string} name
 * @param {boolean} nullable
 * @param {number} typeType
 * @param {import('./flatbuffer.js').Child} type
 * @param {import('./flatbuffer.js').Child[]} [metadata]
 * @param {import('./flatbuffer.js').Child|null} [encoding]
 */
function column (name, nullable, typeType, type, metadata = [], encoding = null) {
  const pairs = metadata.length > 0 ? vector(metadata) : null
  return table([string(name), int8(Number(nullable)), int8(typeType), type, encoding, vector([]), pairs])
}

/** @param {string} key @param {string} value */
function pair (key, value) {
  return table([string(key), string(value)])
}

/** @type {Record<FieldType, [number, import('./flatbuffer.js').Child]>} */
const ARROW_TYPES = {
  float64: [Type.floatingPoint, table([int16(Precision.double)])],
  float32: [Type.floatingPoint, table([int16(Precision.single)])],
  int64: [Type.int, table([int32(64), int8(1)])],
  int32: [Type.int, table([int32(32), int8(1)])],
  int16: [Type.int, table([int32(16), int8(1)])],
  uint16: [Type.int, table([int32(16), int8(0)])],
  bool: [Type.bool, table([])],
  string: [Type.utf8, table([])],
  bytes: [Type.binary, table([])]
}

/** @param {import('./flatbuffer.js').Child} root */
function framed (root) {
  const metadata = flatbuffer(root)
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32LE(CONTINUATION)
  prefix.writeUInt32LE(metadata.length, 4)
  return Buffer.concat([prefix, metadata])
}

/** The time and fields of a batch. @param {Batch} batch @returns {Body} */
function bodyOf ({ rows, time, fields, columns, validity }) {
  const buffers = [NO_BYTES, bytesOf(time)]
  const missing = [0]
  fields.forEach(({ type }, f) => {
    const valid = validity[f]
    const lacking = valid ? valid.reduce((count, there) => count + (there ? 0 : 1), 0) : 0
    missing.push(lacking)
    buffers.push(valid && lacking ? packBits(valid) : NO_BYTES)
    if (type === 'string') pushText(buffers, /** @type {string[]} */ (columns[f]), rows, valid)
    else if (type === 'bytes') pushBytes(buffers, /** @type {Uint8Array[]} */ (columns[f]), rows, valid)
    else if (type === 'bool') buffers.push(packBits(/** @type {Uint8Array} */ (columns[f])))
    else buffers.push(bytesOf(/** @type {Float64Array} */ (columns[f])))
  })
  return { rows, buffers, missing }
}

/**
 * The body of a tag's dictionary; its indices are added to the rows' body.
 * @param {Body} body @param {import('../../../batch/tags.js').TagColumn} column
 * @returns {Body}
 */
function pushDictionary ({ rows, missing, buffers }, { values, valid }) {
  const indices = new Int32Array(rows)
  /** @type {Map<string, number>} */
  const places = new Map()
  let last = ''
  let place = -1
  for (let row = 0; row < rows; row++) {
    if (valid && valid[row] === 0) continue
    if (place < 0 || values[row] !== last) {
      last = values[row]
      place = places.get(last) ?? -1
      if (place < 0) places.set(last, place = places.size)
    }
    indices[row] = place
  }
  const lacking = valid ? valid.reduce((count, there) => count + (there ? 0 : 1), 0) : 0
  missing.push(lacking)
  buffers.push(valid && lacking ? packBits(valid) : NO_BYTES, bytesOf(indices))
  const texts = [...places.keys()]
  /** @type {Uint8Array[]} */
  const own = [NO_BYTES]
  pushText(own, texts, texts.length, null)
  return { rows: texts.length, missing: [0], buffers: own }
}

/** @param {Body} body @param {Int32Array} ordinals */
function pushOrdinals ({ missing, buffers }, ordinals) {
  missing.push(0)
  buffers.push(NO_BYTES, bytesOf(ordinals))
}

/** @param {ArrayBufferView} array */
function bytesOf ({ buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** @param {Uint8Array} flags */
function packBits (flags) {
  const bits = new Uint8Array(Math.ceil(flags.length / 8))
  for (let i = 0; i < flags.length; i++) if (flags[i]) bits[i >> 3] |= 1 << (i & 7)
  return bits
}

/** @param {Uint8Array[]} buffers @param {string[]} texts @param {number} rows @param {Uint8Array|null} valid */
function pushText (buffers, texts, rows, valid) {
  const offsets = offsetsOf(rows, valid, row => Buffer.byteLength(texts[row]))
  const data = Buffer.allocUnsafe(offsets[rows])
  for (let row = 0; row < rows; row++) {
    if (offsets[row + 1] > offsets[row]) data.write(texts[row], offsets[row])
  }
  buffers.push(bytesOf(offsets), data)
}

/** @param {Uint8Array[]} buffers @param {Uint8Array[]} values @param {number} rows @param {Uint8Array|null} valid */
function pushBytes (buffers, values, rows, valid) {
  const offsets = offsetsOf(rows, valid, row => values[row].length)
  const data = Buffer.allocUnsafe(offsets[rows])
  for (let row = 0; row < rows; row++) {
    if (offsets[row + 1] > offsets[row]) data.set(values[row], offsets[row])
  }
  buffers.push(bytesOf(offsets), data)
}

/**
 * Where each value ends; a missing one takes no space.
 * @param {number} rows
 * @param {Uint8Array|null} valid
 * @param {(row: number) => number} lengthOf
 */
function offsetsOf (rows, valid, lengthOf) {
  const offsets = new Int32Array(rows + 1)
  let end = 0
  for (let row = 0; row < rows; row++) {
    if (!valid || valid[row]) end += lengthOf(row)
    offsets[row + 1] = end
  }
  if (end > MAX_BYTES) throw arrowError('a text or bytes column is over 2 GiB')
  return offsets
}
