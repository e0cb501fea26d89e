import { watching } from '../resources.js'
import { StartedClient } from '../started-client.js'

/**
 * Clients at the same time, each in a thread or process of its own with a connection of its own: they store what there is to begin with,
 * are measured and watched, and compare what they find.
 *
 * @typedef {object} Run  of a client
 * @property {number} records
 * @property {number} seconds
 * @property {number[]} readMicroseconds  of each request that was answered
 * @property {number[]} writeMicroseconds
 * @property {number[]} failedMicroseconds  of each that was not
 * @property {string[]} errors  a few different ones
 * @property {number} [cpuSeconds]  of its thread, without making the records; absent where Node cannot tell
 *
 * @typedef {{rows: number, compared: number}} Check  rows that have to be there; reads that returned what was written
 */

const PROGRAM = new URL('client.js', import.meta.url)

/**
 * @param {object[]} loads  what each client is given: see client.js
 * @param {object} how
 * @param {'threads'|'processes'} how.clientsAs
 * @param {AbortSignal} how.signal
 * @param {Pick<import('../../sinks/sink-bench.js').Running, 'watched'>} how.running
 * @returns {Promise<{runs: Run[], checks: Check[], usage: import('../resources.js').Summary, series: import('../resources.js').Series}>}
 * @throws {import('../../../base/errors.js').SluiceError} SLUICE_BENCH_CLIENT where one fails
 */
export async function runClients (loads, { clientsAs, signal, running }) {
  /** @type {StartedClient[]} */
  const clients = []
  const endAll = () => Promise.all(clients.map(client => client.end()))
  const tellAll = (/** @type {string} */ message) => Promise.all(clients.map(client => client.tell(message)))
  signal.addEventListener('abort', endAll)
  try {
    const start = async (/** @type {object} */ load) => {
      signal.throwIfAborted()
      const client = new StartedClient(load, clientsAs, PROGRAM)
      clients.push(client)
      await client.ready()
    }
    await start(loads[0]) // it makes the table
    await Promise.all(loads.slice(1).map(start))
    await tellAll('fill')
    await tellAll('warmUp')
    const clientPid = [...new Set(clients.map(({ pid }) => pid))]
    const { result: runs, usage, series } = await watching({ running, clientPid }, () => tellAll('run'))
    return { runs, checks: await tellAll('check'), usage, series }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', endAll)
    await endAll()
  }
}
