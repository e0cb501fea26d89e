import { formatTime } from '../../batch/time.js'
import { infinite, refuseUnfit, rowsWhere } from '../unfit.js'
import { cellsIn } from '../wide.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

/** The rows of batches, for binding. @param {import('./tables.js').Plan} plan @param {Batch[]} batches  arranged @returns {unknown[][]} */
export function rowsOf ({ columns }, batches) {
  return batches.flatMap(batch => {
    const cells = columns.map(column => cellsIn(column, batch, VALUES[column.type] ?? (value => value), null))
    return Array.from({ length: batch.rows }, (_, row) => cells.map(cell => cell(row)))
  })
}

/** @type {Record<string, (value: any) => unknown>} */
const VALUES = {
  // Of a TIMESTAMP the server keeps seven decimals.
  time: ns => formatTime(ns).replace('T', ' ').replace('Z', '').slice(0, -2),
  time_ns: String,
  float64: value => Number.isNaN(value) ? null : value,
  float32: value => Number.isNaN(value) ? null : value,
  int64: String,
  bool: value => value === 1,
  bytes: value => Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

const MAX_LENGTH = 5000

/** @type {import('../unfit.js').Unfit} */
const long = column => rowsWhere(column, value => value?.length > MAX_LENGTH)

/** What the server cannot hold, and the driver may not even be able to send. @param {Batch[]} batches */
export const checkRows = batches => refuseUnfit(batches, {
  product: 'SAP HANA',
  fields: { float64: infinite, float32: infinite, string: long, bytes: long },
  say: value => typeof value === 'number' ? 'is infinite' : `has more than ${MAX_LENGTH} letters or bytes`
})
