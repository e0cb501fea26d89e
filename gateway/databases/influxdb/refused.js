import { SluiceError } from '../../base/errors.js'
import { isRefusal, RefusedRows } from '../refusal.js'
import { AnswerError } from '../http.js'

/**
 * Which rows InfluxDB cannot store, as far as that can be known before it is asked, or from what it answers.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{batch: Batch, row: number, error: unknown}} Fault
 */

/** The server's messages about rows that it refuses; it stores the others of a request all the same. */
const REFUSED = new RegExp([
  'unable to parse', 'parsing failed', 'partial write of line protocol', 'field type conflict', 'beyond retention policy',
  'time outside range', 'max key length'
].join('|'), 'i')

/** The status of a request of more bytes than the server accepts. */
export const TOO_LARGE = 413

export const BEYOND_RETENTION = /beyond retention policy/i
export const TYPE_CONFLICT = /field type conflict/i

// The ends of 64 bits have a meaning of their own to the server.
const LIMITS = { product: 'InfluxDB', first: -(2n ** 63n) + 2n, last: 2n ** 63n - 2n }

/** An error whose cause blames the rows although they are not at fault, or not known to be: they are written again. */
export class NotRefused extends SluiceError {
  /** @param {string} message @param {{cause: unknown, fix?: string}} more */
  constructor (message, more) {
    super('SLUICE_SINK_INFLUXDB', message, more)
  }
}

/** @param {unknown} error */
export function isTransient (error) {
  return error instanceof NotRefused || !isRefusal(error, isRowsFault)
}

/** Whether the rows are at fault, by an error of the server. @param {any} error */
function isRowsFault (error) {
  if (!(error instanceof AnswerError)) return false
  return error.status === TOO_LARGE || ((error.status === 400 || error.status === 422) && REFUSED.test(error.message))
}

/**
 * Finds rows with values that the line protocol cannot express.
 * @param {Batch[]} batches
 * @param {typeof LIMITS} [limits]
 * @throws {RefusedRows}
 */
export function checkRows (batches, limits = LIMITS) {
  const faults = batches.flatMap(batch => {
    const byRow = new Map([...infinityFaults(batch, limits), ...timeFaults(batch, limits)].map(fault => [fault.row, fault]))
    return [...byRow.values()]
  })
  if (faults.length > 0) throw new RefusedRows(faults)
}

/**
 * Rows that were too old for the retention policy.
 * @param {Batch[]} batches
 * @param {bigint} keptNs
 * @param {unknown} error  the server's
 * @returns {Fault[]}
 */
export function oldRows (batches, keptNs, error) {
  const oldest = BigInt(Date.now()) * 1_000_000n - keptNs
  return batches.flatMap(batch => rowsWhere(batch, row => batch.time[row] < oldest).map(row => ({ batch, row, error })))
}

/** @param {Batch} batch @param {typeof LIMITS} limits @returns {Fault[]} */
function timeFaults (batch, { product, first, last }) {
  const { time } = batch
  return rowsWhere(batch, row => time[row] < first || time[row] > last)
    .map(row => ({ batch, row, error: refusal(`The time ${time[row]} is outside the range that ${product} has.`) }))
}

/** @param {Batch} batch @param {typeof LIMITS} limits @returns {Fault[]} */
function infinityFaults (batch, { product }) {
  return batch.fields.flatMap(({ name, type }, f) => {
    if (type !== 'float64' && type !== 'float32') return []
    const column = /** @type {Float64Array} */ (batch.columns[f])
    const valid = batch.validity[f]
    return rowsWhere(batch, row => (column[row] === Infinity || column[row] === -Infinity) && (valid === null || valid[row] !== 0))
      .map(row => ({ batch, row, error: refusal(`The field "${name}" is ${column[row]}, which ${product} cannot hold.`) }))
  })
}

/** @param {string} text */
function refusal (text) {
  return new SluiceError('SLUICE_SINK_ROWS', text)
}

/** @param {Batch} batch @param {(row: number) => boolean} test */
function rowsWhere ({ rows }, test) {
  const found = []
  for (let row = 0; row < rows; row++) if (test(row)) found.push(row)
  return found
}
