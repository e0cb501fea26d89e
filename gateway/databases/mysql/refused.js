import { isRefusal } from '../refusal.js'
import { infinite, refuseUnfit } from '../unfit.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./session.js').Connection} Connection
 */

/**
 * Error numbers by which the server reports that the rows are at fault: constraints, ranges, lengths, encodings, checks, what a user's
 * trigger raises, and sizes of rows.
 */
const REFUSED = new Set([
  1022, 1048, 1062, 1117, 1118, 1153, 1169, 1216, 1217, 1263, 1264, 1265, 1292, 1300, 1301, 1364, 1365, 1366, 1406, 1411, 1451, 1452,
  1526, 1557, 1586, 1644, 1690, 1748, 3140, 3141, 3156, 3819, 4025, 4038
])

/** The storage engine's own number for a row that no page can hold. */
const TOO_BIG_ROW = /error 139\b/

/** Warnings that say nothing of the rows: statements that replicate badly, syntax that will go. */
const HARMLESS = new Set([1287, 1592, 1681])

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ errno, message }) => REFUSED.has(errno) || (errno === 1030 && TOO_BIG_ROW.test(message)))
}

/**
 * Throws where the server stored a row in part or not at all: LOAD DATA LOCAL turns such errors into warnings.
 * @param {Connection} connection
 * @param {import('mysql2').ResultSetHeader} result  of the statement just done
 */
export async function checkWarnings (connection, { warningStatus }) {
  if (warningStatus === 0) return
  const [warnings] = /** @type {[any[], any]} */ (await connection.query('SHOW WARNINGS'))
  const grave = warnings.filter(({ Code }) => !HARMLESS.has(Code))
  const worst = grave.find(({ Code }) => REFUSED.has(Code)) ?? grave[0]
  if (worst) throw Object.assign(new Error(worst.Message), { errno: worst.Code })
}

/** Neither type of floating point column accepts an infinity. @param {Batch[]} batches  to be stored in such columns */
export const refuseInfinities = batches =>
  refuseUnfit(batches, { product: 'MySQL', fields: { float64: infinite, float32: infinite }, say: () => 'is infinite' })
