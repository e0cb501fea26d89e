import { Batch, COLUMN_TYPES } from '../../../batch/batch.js'
import { tagColumns } from '../../../batch/tags.js'
import { flatbuffer, int16, int32, int64, int8, string, structs, table, vector } from './flatbuffer.js'
import { CONTINUATION, DIGITS, Header, Key, METADATA_V5, PREFIX_BYTES, Precision, TIME_UNITS, Type, arrowError } from './format.js'
import { Kept } from './kept.js'

/**
 * @typedef {import('../../../batch/batch.js').Field} Field
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 *
 * What batches of one shape share: the schema, and the other messages, whose sizes are set in place.
 * @typedef {{schema: Buffer, dictionaries: RecordTemplate[], record: RecordTemplate}} Template
 * @typedef {{bytes: Buffer, lengthAt: number, bodyLengthAt: number, nodesAt: number, buffersAt: number}} RecordTemplate
 */

const NO_TIMES = new BigInt64Array(0)

/** @type {Kept<Template>} */
const templates = new Kept()
/**
 * The template of the newest batch with these very fields: most batches of a source share them.
 * @type {WeakMap<Field[], {batch: Batch, template: Template}>}
 */
const newest = new WeakMap()

/**
 * @param {Batch} batch
 * @returns {Template}
 * @throws {SluiceError} SLUICE_CODEC_ARROW when two columns have one name
 */
export function templateOf (batch) {
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
