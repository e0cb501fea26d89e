import { Batch } from '../../../gateway/batch/batch.js'
import { RangeSet } from '../../../gateway/batch/ranges.js'

/** The time of the first row. */
export const T0 = 1_700_000_000_123_456_789n

export const EPOCH = { gateway: 'gw', source: 'press', epoch: '1-a' }

/** @param {number} seq */
export const identity = seq => ({ ...EPOCH, seq })

/** What a write returns of batches that are all new. */
export const ALL_NEW = { duplicates: [], clashes: [] }

/**
 * Which batches have commit records, by epoch.
 * @param {import('../../../gateway/databases/sink.js').Committed} committed
 */
export function rangesOf ({ records }) {
  const epochs = Map.groupBy(records, ({ gateway, source, epoch }) => JSON.stringify({ gateway, source, epoch }))
  return Array.from(epochs, ([epoch, its]) => ({ ...JSON.parse(epoch), ...new RangeSet(its.map(({ first, last }) => [first, last])) }))
}

/** Times, in nanoseconds after `T0`. @param {number[]} nanoseconds */
export const at = (...nanoseconds) => BigInt64Array.from(nanoseconds, offset => T0 + BigInt(offset))

/**
 * A batch of source "press" with values of one field.
 * @param {number[]} values
 * @param {Partial<import('../../../gateway/batch/batch.js').BatchInit>} [more]
 */
export function batchOf (values, more = {}) {
  return new Batch({
    source: 'press',
    time: BigInt64Array.from(values, (_, i) => T0 + BigInt(i)),
    fields: [{ name: 'force', type: 'float64', unit: 'N' }],
    columns: [Float64Array.from(values)],
    ...more
  })
}

/**
 * A batch of one row.
 * @param {Record<string, [import('../../../gateway/batch/batch.js').FieldType, any]>} values  undefined for a missing one
 * @param {Partial<import('../../../gateway/batch/batch.js').BatchInit>} [more]
 */
export function rowOf (values, more = {}) {
  const arrays = {
    float64: Float64Array,
    float32: Float32Array,
    int64: BigInt64Array,
    int32: Int32Array,
    int16: Int16Array,
    uint16: Uint16Array,
    bool: Uint8Array,
    string: Array,
    bytes: Array
  }
  const entries = Object.entries(values)
  return new Batch({
    source: 'press',
    time: BigInt64Array.of(T0),
    fields: entries.map(([name, [type]]) => ({ name, type })),
    columns: entries.map(([, [type, value]]) => {
      if (type === 'string' || type === 'bytes') return [value]
      return /** @type {any} */ (arrays[type]).of(value ?? (type === 'int64' ? 0n : 0))
    }),
    validity: entries.map(([, [, value]]) => value === undefined ? Uint8Array.of(0) : null),
    ...more
  })
}

/**
 * Batches with rows that a database refuses, counted over all of them.
 * @param {Batch[]} batches
 * @param {(row: number) => boolean} isPoison
 * @param {(batch: Batch, isPoison: (row: number) => boolean) => Partial<Batch>} change  what is other in one, by its own rows
 */
export function withPoison (batches, isPoison, change) {
  let first = 0
  return batches.map(batch => {
    const from = first
    first += batch.rows
    return new Batch({ ...batch, ...change(batch, row => isPoison(from + row)) })
  })
}

/**
 * Their first values are others at some rows.
 * @param {Batch[]} batches
 * @param {(row: number) => boolean} isPoison
 * @param {number} value
 */
export function poisoned (batches, isPoison, value = -1) {
  return withPoison(batches, isPoison, ({ columns: [first, ...others] }, isOne) => {
    return { columns: [Float64Array.from(/** @type {Float64Array} */ (first), (its, row) => isOne(row) ? value : its), ...others] }
  })
}

/**
 * They have a column of texts, which are long at some rows.
 * @param {Batch[]} batches
 * @param {(row: number) => boolean} isPoison
 * @param {number} length
 */
export function withLongTexts (batches, isPoison, length) {
  const long = 'x'.repeat(length)
  return withPoison(batches, isPoison, ({ rows, fields, columns, validity }, isOne) => ({
    fields: [...fields, { name: 'text', type: 'string' }],
    columns: [...columns, Array.from({ length: rows }, (_, row) => isOne(row) ? long : '')],
    validity: [...validity, null]
  }))
}

/** @param {() => Promise<unknown>} work @returns {Promise<any>} */
export async function failureOf (work) {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('It should have failed.')
}
