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
export async function writeAll (client, batches, signal, inFlight = IN_FLIGHT) {
  const waiting = batches[Symbol.iterator]()
  await Promise.all(Array.from({ length: inFlight }, async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      signal?.throwIfAborted()
      await client.batch(next.value, { prepare: true, logged: false })
    }
  }))
}
