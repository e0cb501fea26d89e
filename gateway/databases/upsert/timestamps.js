import { EPOCH, SEQ } from './layout.js'

/**
 * Versions of rows as one number each, for databases that keep of two cells the one with the greater timestamp: an older row that comes
 * late, or again, then changes nothing.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 */

/**
 * Of what is staged, a second of the epoch's counter is worth so much, which is 2048 batches: a spool begins no epoch before its counter
 * has passed all batches of those before (`broker/spool/epochs.js`).
 */
const COUNTER_BITS = 31n
const MAX_COUNTER = 2n ** 32n - 1n
const MAX_TIMESTAMP = 2n ** 63n - 2n

/** Milliseconds are counted above the number of a row, as in versions. */
const ROW_BITS = 20n

/**
 * Of arranged rows. What is not staged came at a time of this process: so that it replaces what others have stored before, its time is
 * that of the server.
 * @param {Batch} arranged
 * @param {number} beganMs  when this process began, by the server's clock
 */
export function timestampsOf ({ fields, columns }, beganMs) {
  const [epochs, seqs] = [EPOCH, SEQ].map(name => /** @type {BigInt64Array} */ (columns[fields.findIndex(field => field.name === name)]))
  const began = BigInt(Math.round(beganMs)) << ROW_BITS
  return BigInt64Array.from(epochs, (epoch, row) => {
    const timestamp = epoch < 0n ? began + seqs[row] : ((epoch > MAX_COUNTER ? 0n : epoch) << COUNTER_BITS) + seqs[row]
    return timestamp < 1n ? 1n : timestamp > MAX_TIMESTAMP ? MAX_TIMESTAMP : timestamp
  })
}
