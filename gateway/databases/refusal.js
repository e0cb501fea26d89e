import { SluiceError } from '../base/errors.js'

/** Refusals of the sinks themselves: the rows at fault cannot be stored, now or later. */
const REFUSALS = ['SLUICE_SINK_TABLE_MISFIT', 'SLUICE_SINK_IDENTIFIER', 'SLUICE_SINK_ROWS']

/**
 * Thrown by a write where it is known which rows the database refuses; the writer makes dead letters of exactly these and writes again.
 */
export class RefusedRows extends SluiceError {
  /**
   * @param {{batch: import('../batch/batch.js').Batch, row: number, error: unknown}[]} faults  `batch` as it was given to the write, `row`
   *   of it; at least one
   */
  constructor (faults) {
    const [{ error }] = faults
    const rows = faults.length === 1 ? '1 row is' : `${faults.length} rows are`
    const reason = error instanceof Error ? error.message : error
    super('SLUICE_SINK_ROWS', `${rows} refused, the first one so: ${reason}`, { cause: error })
    this.faults = faults
  }
}

/**
 * Whether the rows themselves are at fault, by an error and its causes. What is not known to be the rows' fault is not:
 * waiting with the reason in view is better than giving rows up on a guess.
 * @param {unknown} error
 * @param {(cause: any) => boolean} databaseRefused  of one error of the database's driver
 */
export function isRefusal (error, databaseRefused) {
  for (let cause = /** @type {any} */ (error); cause instanceof Error; cause = cause.cause) {
    if (REFUSALS.includes(/** @type {any} */ (cause).code) || databaseRefused(cause)) return true
  }
  return false
}
