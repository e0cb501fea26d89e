import { watching } from './resources.js'
import { StartedClient } from './started-client.js'

/**
 * Clients that write at the same time, each in a thread or process of its own with a connection of its own, so that one's processor time
 * is not the other's. An embedded database has one writer: there they are in one thread or process, and share the sink.
 *
 * @typedef {object} Load
 * @property {import('../sinks/open.js').SinkAddress} address
 * @property {{url: string, options: object}} batches  a module whose `batchesOf(options, client)` is an endless generator of batches, for
 *   each client its own: structured data, as it goes to the threads
 * @property {number} clients
 * @property {number} [batchesPerClient]  then it ends; otherwise it goes on to the limit
 * @property {number} [limitMs]
 * @property {'threads'|'processes'} [clientsAs]  threads where it is not said
 *
 * @typedef {object} Written
 * @property {number} rows  that are stored: with those of batches that failed in that their answer was lost
 * @property {number} seconds  from the first write to the end of the last
 * @property {number[]} latencyMicroseconds  of each batch that was stored, in the order in which they ended
 * @property {number[]} failedMicroseconds  of each that was not
 * @property {WrittenBatch[]} batches  all, in the order in which each client's ended
 * @property {string[]} errors  a few different ones
 * @property {number} [cpuSeconds]  of the threads that write, without making the batches; absent where Node cannot tell
 *
 * @typedef {{client: number, endedMs: number, microseconds: number, isStored: boolean}} WrittenBatch  `endedMs` since 1970
 *
 * @typedef {Written & Partial<import('./resources.js').Usage>} Watched  the client's is that of all of them: where they are threads, of
 *   the process of the bench
 */

/** Databases that are in the process of their client. */
export const EMBEDDED = ['sqlite', 'duckdb', 'file', 'null']

/**
 * @param {Load} load
 * @param {{signal?: AbortSignal, running?: Pick<import('../sinks/sink-bench.js').Running, 'watched'>, intervalMs?: number}} [options]
 *   `running`: it is watched from the first write to the end of the last, while all connections are open, so that all they carry counts
 * @returns {Promise<Watched>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_BENCH_CLIENT where one cannot open its sink, or ends
 */
export async function writeByClients ({ clients, clientsAs = 'threads', ...load }, { signal, running, intervalMs } = {}) {
  const isEmbedded = EMBEDDED.includes(load.address.type)
  const [count, writers] = isEmbedded ? [1, clients] : [clients, 1]
  /** @type {StartedClient[]} */
  const started = []
  const endAll = () => Promise.all(started.map(client => client.end()))
  signal?.addEventListener('abort', endAll)
  try {
    const start = async (/** @type {number} */ first) => {
      signal?.throwIfAborted()
      const client = new StartedClient({ ...load, first, writers }, clientsAs)
      started.push(client)
      await client.ready()
    }
    await start(0) // it makes the tables
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(i + 1)))
    const write = () => Promise.all(started.map(client => client.run()))
    const clientPid = [...new Set(started.map(({ pid }) => pid))]
    const { result, ...usage } = running ? await watching({ running, clientPid, intervalMs }, write) : { result: await write() }
    const unanswered = await Promise.all(started.map(client => client.close()))
    return { ...together(result.map((part, i) => ({ ...part, rows: part.rows + unanswered[i] }))), ...usage }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', endAll)
    await endAll()
  }
}

/** @param {Written[]} parts  that ran at the same time @returns {Written} */
function together (parts) {
  const cpu = parts.map(({ cpuSeconds }) => cpuSeconds)
  return {
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    seconds: Math.max(...parts.map(({ seconds }) => seconds)),
    latencyMicroseconds: parts.flatMap(({ latencyMicroseconds }) => latencyMicroseconds),
    failedMicroseconds: parts.flatMap(({ failedMicroseconds }) => failedMicroseconds),
    batches: parts.flatMap(({ batches }) => batches),
    errors: [...new Set(parts.flatMap(({ errors }) => errors))],
    ...cpu.every(seconds => seconds !== undefined) && { cpuSeconds: cpu.reduce((sum, seconds) => sum + seconds, 0) }
  }
}
