import { manyAtOnce } from '../../base/many-at-once.js'

/**
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {{query: string, params: any[]}} Statement
 */

/** Batches of a write that are under way at a time. */
const IN_FLIGHT = 16

/** Of a row or two. */
export const SMALL_IN_FLIGHT = 64

/**
 * Executes all; when it rejects, some may have been executed.
 * @param {Client} client
 * @param {Iterable<Statement[]>} batches  each of one partition: servers take it as a single write
 * @param {AbortSignal} [signal]
 * @param {number} [inFlight]
 */
export function writeAll (client, batches, signal, inFlight = IN_FLIGHT) {
  return manyAtOnce(inFlight, batches, batch => client.batch(batch, { prepare: true, logged: false }), signal)
}
