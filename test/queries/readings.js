import { Batch } from '../../gateway/batch/batch.js'
import { batchOf, T0 } from '../databases/contract/batches.js'

/**
 * @typedef {import('../../gateway/databases/reader.js').Reader} Reader
 * @typedef {import('../../gateway/databases/reader.js').Sample} Sample
 */

export const S = 1_000_000_000n

/** Everything stored by these tests. */
export const ALL = { from: -10n * S, to: T0 + 10_000n * S }

/** Values of "force", a nanosecond apart. @param {bigint} from @param {number[]} values */
export function forces (from, values) {
  return batchOf(values, { time: times(from, values.length) })
}

/** Values of "force". @param {bigint[]} time @param {number[]} values */
export function at (time, values) {
  return batchOf(values, { time: BigInt64Array.from(time) })
}

/** @param {bigint[]} time @param {Record<string, number[]>} columns  of doubles, by sensor */
export function table (time, columns) {
  return new Batch({
    source: 'press',
    time: BigInt64Array.from(time),
    fields: Object.keys(columns).map(name => ({ name, type: 'float64' })),
    columns: Object.values(columns).map(values => Float64Array.from(values))
  })
}

/** @param {bigint} from @param {number} count */
export function times (from, count) {
  return BigInt64Array.from({ length: count }, (_, i) => from + BigInt(i))
}

/** @param {Reader} reader @param {Parameters<Reader['samples']>[0]} range */
export async function pagesOf (reader, range) {
  /** @type {Sample[][]} */
  const pages = []
  for await (const page of reader.samples(range)) pages.push(page)
  return pages
}

/** @param {Reader} reader @param {Parameters<Reader['samples']>[0]} range */
export async function samples (reader, range) {
  return (await pagesOf(reader, range)).flat()
}

/** @param {Sample[]} read @param {string} sensor */
export function valuesOf (read, sensor) {
  return read.filter(sample => sample.sensor === sensor).map(({ value }) => value)
}
