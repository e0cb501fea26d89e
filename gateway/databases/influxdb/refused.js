import { SluiceError } from '../../base/errors.js'
import { AnswerError } from '../http.js'
import { isRefusal } from '../refusal.js'
import { infinite, refuseUnfit, rowsWhere } from '../unfit.js'

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
const [FIRST_TIME, LAST_TIME] = [2n - 2n ** 63n, 2n ** 63n - 2n]

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

/** What the line protocol cannot express. @param {Batch[]} batches */
export const checkRows = batches => refuseUnfit(batches, {
  product: 'InfluxDB',
  fields: { float64: infinite, float32: infinite },
  times: column => rowsWhere(column, (/** @type {bigint} */ time) => time < FIRST_TIME || time > LAST_TIME)
})

/**
 * Rows that were too old for the retention policy.
 * @param {Batch[]} batches
 * @param {bigint} keptNs
 * @param {unknown} error  the server's
 * @returns {Fault[]}
 */
export function oldRows (batches, keptNs, error) {
  const oldest = BigInt(Date.now()) * 1_000_000n - keptNs
  return batches.flatMap(batch => rowsWhere(batch.time, time => time < oldest).map(row => ({ batch, row, error })))
}
