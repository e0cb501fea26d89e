import { formatTime } from '../../batch/time.js'
import { SluiceError } from '../../base/errors.js'
import { RefusedRows } from '../refusal.js'
import { constantOf, valuesOf } from '../wide.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

/** The rows of batches, for binding. @param {import('./tables.js').Plan} plan @param {Batch[]} batches  arranged @returns {unknown[][]} */
export function rowsOf ({ columns }, batches) {
  return batches.flatMap(batch => {
    const cells = columns.map(column => cellsOf(column, batch))
    return Array.from({ length: batch.rows }, (_, row) => cells.map(cell => cell(row)))
  })
}

/** @param {import('../wide.js').PlacedColumn} column @param {Batch} batch @returns {(row: number) => unknown} */
function cellsOf (column, batch) {
  const { time } = batch
  // Of a TIMESTAMP the server keeps seven decimals.
  if (column.type === 'time') return row => formatTime(time[row]).replace('T', ' ').replace('Z', '').slice(0, -2)
  if (column.type === 'time_ns') return row => String(time[row])
  const constant = constantOf(column, batch)
  if (constant !== undefined) return () => constant
  const { type, values, valid } = valuesOf(column, batch)
  const valueOf = VALUES[type] ?? (value => value)
  return row => valid?.[row] === 0 ? null : valueOf(values[row])
}

/** @type {Record<string, (value: any) => unknown>} */
const VALUES = {
  float64: value => Number.isNaN(value) ? null : value,
  float32: value => Number.isNaN(value) ? null : value,
  int64: String,
  bool: value => value === 1,
  bytes: value => Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/**
 * Finds values that the server cannot hold, which the driver may not even be able to send.
 * @param {Batch[]} batches
 * @throws {RefusedRows}
 */
export function checkRows (batches) {
  const faults = batches.flatMap(batch => batch.fields.flatMap(({ name, type }, f) => {
    const problem = PROBLEMS[type]
    if (!problem) return []
    const column = /** @type {any} */ (batch.columns[f])
    const [isOne, what] = problem
    const error = new SluiceError('SLUICE_SINK_ROWS', `The field "${name}" ${what}.`)
    return [...column.keys()].filter(row => batch.validity[f]?.[row] !== 0 && isOne(column[row])).map(row => ({ batch, row, error }))
  }))
  if (faults.length > 0) throw new RefusedRows(faults)
}

const MAX_LENGTH = 5000
/** @type {[(value: any) => boolean, string]} */
const INFINITE = [value => Math.abs(value) === Infinity, 'is infinite, which SAP HANA cannot hold']
/** @type {[(value: any) => boolean, string]} */
const LONG = [value => value.length > MAX_LENGTH, `has more than ${MAX_LENGTH} letters or bytes, which its column cannot hold`]
/** @type {Record<string, [(value: any) => boolean, string]>} */
const PROBLEMS = { float64: INFINITE, float32: INFINITE, string: LONG, bytes: LONG }
