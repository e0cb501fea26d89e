import { expect } from 'chai'
import fc from 'fast-check'
import { Batch, COLUMN_TYPES } from '../../../gateway/batch/batch.js'
import { tagAt, tagColumns } from '../../../gateway/batch/tags.js'

/**
 * Batches for the codec suites.
 *
 * @typedef {import('../../../gateway/batch/batch.js').Field} Field
 * @typedef {import('../../../gateway/batch/batch.js').FieldType} FieldType
 * @typedef {import('../../../gateway/batch/batch.js').Identity} Identity
 */

export const NOW = 1_700_000_000_123_456_789n
/** @type {Identity} */
export const IDENTITY = Object.freeze({ gateway: 'pi-7f3a', source: 'machine', epoch: '3-9c41', seq: 41 })

/**
 * A batch of the given columns; undefined is missing.
 * @param {Record<string, [FieldType, unknown[], string?]>} columns  per name: type, values, unit
 * @param {Partial<import('../../../gateway/batch/batch.js').BatchInit>} [parts]
 */
export function batchOf (columns, parts = {}) {
  const entries = Object.entries(columns)
  const rows = entries[0]?.[1][1].length ?? 0
  return new Batch({
    source: 'machine',
    time: BigInt64Array.from({ length: rows }, (_, row) => NOW + BigInt(row)),
    fields: entries.map(([name, [type, , unit]]) => unit ? { name, type, unit } : { name, type }),
    columns: entries.map(([, [type, values]]) => columnOf(type, values)),
    validity: entries.map(([, [, values]]) => (
      values.includes(undefined) ? Uint8Array.from(values, value => value === undefined ? 0 : 1) : null
    )),
    ...parts
  })
}

/** @param {FieldType} type @param {unknown[]} values */
function columnOf (type, values) {
  const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(values.length)
  values.forEach((value, row) => { if (value !== undefined) column[row] = value })
  return column
}

/** Every type with its extremes; in one row, all but one are missing. */
export const EVERY_TYPE = batchOf({
  float64: ['float64', [0.1, -0, 5e-324, undefined, Number.MAX_VALUE, -1.5], 'mm/s²'],
  float32: ['float32', [0.5, -1.25, 2 ** -149, undefined, 1e10, -0]],
  int64: ['int64', [-(2n ** 63n), 2n ** 63n - 1n, 0n, undefined, 2n ** 53n + 1n, -1n]],
  int32: ['int32', [-(2 ** 31), 2 ** 31 - 1, 0, undefined, 1, -1]],
  int16: ['int16', [-32768, 32767, 0, undefined, 1, -1]],
  uint16: ['uint16', [0, 65535, 1, undefined, 4095, 2]],
  bool: ['bool', [1, 0, 1, undefined, 1, 0]],
  string: ['string', ['', 'a', 'Größe 😀 "\\\n\0', undefined, '日本', '']],
  bytes: [
    'bytes',
    [Buffer.from(''), Buffer.from([0, 255]), Buffer.from('x'), undefined, Buffer.from([1, 2, 3, 4, 5, 6, 7, 8, 9]), Buffer.from('')]
  ],
  always: ['float64', [0, 1, 2, 3, 4, 5]]
}, { identity: IDENTITY, tags: { line: '4', 'größe "q"': '' } })

/** A tag of each row; undefined is missing. @param {(string|undefined)[]} values */
export function tagOf (values) {
  return { values: values.map(value => value ?? ''), valid: Uint8Array.from(values, value => value === undefined ? 0 : 1) }
}

/** What a batch says, in plain values that chai compares: bytes as hex. @param {Batch} batch */
export function meaning (batch) {
  const { source, tags, identity, fields, time } = batch
  const columns = fields.map((_, f) => Array.from(time, (__, row) => plain(batch.value(f, row))))
  const constants = Object.fromEntries(Object.entries(tags).filter(([, tag]) => typeof tag === 'string'))
  const varying = tagColumns(tags).map(([name, column]) => [name, Array.from(time, (_, row) => tagAt(column, row) ?? null)])
  const own = { ...constants, ...Object.fromEntries(varying) }
  return { source, tags: own, identity, fields: fields.map(field => ({ ...field })), time: [...time], columns }
}

/** @param {Batch} actual @param {Batch} expected */
export function expectSame (actual, expected) {
  expect(meaning(actual)).to.deep.equal(meaning(expected))
}

/** @param {unknown} value */
function plain (value) {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

const text = fc.string({ unit: 'binary', maxLength: 8 }).map(value => value.toWellFormed())

/** @type {Record<FieldType, fc.Arbitrary<unknown>>} */
const VALUES = {
  float64: fc.double(),
  float32: fc.float(),
  int64: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  int32: fc.integer(),
  int16: fc.integer({ min: -32768, max: 32767 }),
  uint16: fc.integer({ min: 0, max: 65535 }),
  bool: fc.constantFrom(0, 1),
  string: text,
  bytes: fc.uint8Array({ maxLength: 9 })
}

/** Any batch: few rows, but every kind of column, name, tag and identity. */
export const anyBatch = fc.record({
  rows: fc.integer({ min: 0, max: 20 }),
  names: fc.uniqueArray(text.filter(name => name !== 'time'), { maxLength: 6 }),
  source: text.filter(Boolean),
  tags: fc.dictionary(text, text, { maxKeys: 3 }),
  devices: fc.option(fc.array(fc.constantFrom('a', 'b', 'c', undefined), { minLength: 20, maxLength: 20 })),
  identity: fc.option(fc.record({ gateway: text, epoch: text, seq: fc.maxSafeNat() }))
}).chain(({ rows, names, source, tags, devices, identity }) => fc.record({
  time: fc.array(VALUES.int64, { minLength: rows, maxLength: rows }),
  columns: fc.tuple(...names.map(name => fc.tuple(fc.constant(name), anyColumn(rows))))
}).map(({ time, columns }) => batchOf(Object.fromEntries(columns), {
  time: BigInt64Array.from(/** @type {bigint[]} */ (time)),
  source,
  tags: devices ? { ...tags, device: tagOf(devices.slice(0, rows)) } : tags,
  identity: identity && { ...identity, source }
})))

/** @param {number} rows @returns {fc.Arbitrary<[FieldType, unknown[], string?]>} */
function anyColumn (rows) {
  return fc.constantFrom(.../** @type {FieldType[]} */ (Object.keys(VALUES))).chain(type =>
    fc.tuple(
      fc.constant(type),
      fc.array(fc.option(VALUES[type], { nil: undefined, freq: 4 }), { minLength: rows, maxLength: rows }),
      fc.constantFrom(undefined, 'K', '°')
    ))
}
