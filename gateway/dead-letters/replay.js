import { randomBytes } from 'node:crypto'

/**
 * Dead letters on their way into a database again: written down in the queue before they leave it. After a crash nobody knows whether they
 * arrived; they go out again together under the same identity, and a database that has its commit record refuses them.
 *
 * @typedef {{epoch: string, seq: number}} ReplayId
 * @typedef {{replay: ReplayId, keys: string[]}} Replay
 */

/** Stands for the gateway in the identity of replayed rows: they come from no spool. */
const REPLAYED = 'dead-letters'

/** @returns {string} that no other replay has or will have, into whichever database */
export function newEpoch () {
  return `1-${randomBytes(8).toString('hex')}`
}

/**
 * The rows under the identity of their replay.
 * @param {import('../batch/batch.js').Batch} batch
 * @param {ReplayId} replay
 * @param {import('./dead-letter.js').Origin[]} [origins]  of its rows
 */
export function replayed (batch, { epoch, seq }, origins) {
  return batch.withIdentity({ gateway: REPLAYED, source: batch.source, epoch, seq, ...origins && { replayOf: origins } })
}

/** @param {{identity: import('../batch/batch.js').Identity|null}} batch  or dead letter */
export function isReplayed ({ identity }) {
  return identity?.gateway === REPLAYED
}
