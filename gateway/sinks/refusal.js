/** Refusals of the sinks themselves: the rows at fault cannot be stored, now or later. */
const REFUSALS = ['SLUICE_SINK_TABLE_MISFIT', 'SLUICE_SINK_IDENTIFIER']

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
