import { sliceOf } from '../batch/batch.js'

/**
 * A batch in parts, each for a transaction of its own. Not one with an identity: that has one commit record, in one transaction with all of
 * its rows.
 *
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('./writer.js').Written} Written
 */

/** @param {Batch} batch @param {number} rows  of a part, at most @returns {Batch[]} */
export function partsOf (batch, rows) {
  return Array.from({ length: Math.ceil(batch.rows / rows) }, (_, i) => sliceOf(batch, i * rows, Math.min((i + 1) * rows, batch.rows)))
}

/** What has become of all parts; rejects as the first of those that reject, once nothing is under way. @param {Promise<Written>[]} parts */
export async function together (parts) {
  await Promise.allSettled(parts)
  const written = await Promise.all(parts)
  return { outcome: /** @type {const} */ ('stored'), deadRows: written.reduce((sum, { deadRows }) => sum + deadRows, 0) }
}
