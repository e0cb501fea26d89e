import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../base/errors.js'

/**
 * Clients that write at the same time, each in a thread of its own with a connection of its own, so that one's processor time is not the
 * other's. An embedded database has one writer: there they are in one thread, and share the sink.
 *
 * @typedef {object} Load
 * @property {import('../sinks/open.js').SinkAddress} address
 * @property {{url: string, options: object}} batches  a module whose `batchesOf(options, client)` is an endless generator of batches, for
 *   each client its own: structured data, as it goes to the threads
 * @property {number} clients
 * @property {number} [batchesPerClient]  then it ends; otherwise it goes on to the limit
 * @property {number} [limitMs]
 *
 * @typedef {object} Written
 * @property {number} rows
 * @property {number} seconds  from the first write to the end of the last
 * @property {number[]} latencyMicroseconds  of each batch that was stored, in the order in which they ended
 * @property {number[]} failedMicroseconds  of each that was not
 * @property {string[]} errors  a few different ones
 * @property {number} [cpuSeconds]  of the threads that write, without making the batches; absent where Node cannot tell
 */

const EMBEDDED = ['sqlite', 'duckdb', 'file', 'null']

/**
 * @param {Load} load
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Written>}
 * @throws {SluiceError} SLUICE_BENCH_CLIENT where one cannot open its sink, or ends
 */
export async function writeByClients ({ clients, ...load }, { signal } = {}) {
  const isEmbedded = EMBEDDED.includes(load.address.type)
  const [count, writers] = isEmbedded ? [1, clients] : [clients, 1]
  /** @type {Client[]} */
  const threads = []
  const endAll = () => Promise.all(threads.map(thread => thread.end()))
  signal?.addEventListener('abort', endAll)
  try {
    signal?.throwIfAborted()
    while (threads.length < count) { // one after the other: the first makes the tables
      const thread = new Client({ ...load, first: threads.length, writers })
      threads.push(thread)
      await thread.ready()
    }
    return together(await Promise.all(threads.map(thread => thread.run())))
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
    errors: [...new Set(parts.flatMap(({ errors }) => errors))],
    ...cpu.every(seconds => seconds !== undefined) && { cpuSeconds: cpu.reduce((sum, seconds) => sum + seconds, 0) }
  }
}

class Client {
  #worker
  /** @type {Promise<never>} */
  #failed

  /** @param {object} load */
  constructor (load) {
    this.#worker = new Worker(new URL('client.js', import.meta.url), { workerData: load })
    this.#failed = new Promise((_resolve, reject) => {
      const fail = (/** @type {unknown} */ cause) => {
        reject(new SluiceError('SLUICE_BENCH_CLIENT', 'A client of the bench ended.', { cause }))
      }
      this.#worker.on('error', fail)
      this.#worker.on('exit', fail)
    })
    this.#failed.catch(() => {}) // told by whatever waits for it
  }

  async ready () { await this.#answer() }

  /** @returns {Promise<Written>} */
  async run () {
    this.#worker.postMessage('run')
    return this.#answer()
  }

  async end () { await this.#worker.terminate() }

  async #answer () {
    const [answer] = await Promise.race([once(this.#worker, 'message'), this.#failed])
    return answer
  }
}
