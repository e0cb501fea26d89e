import { makeTable } from '../../sinks/open.js'
import { beforeTable, DATABASES, hereOf, indexTable } from './databases.js'

/**
 * A database that is open for all its cells.
 *
 * @typedef {object} Opened
 * @property {import('../../sinks/sink-bench.js').Running} running
 * @property {import('../../sinks/open.js').SinkAddress} address  of the sink, with what the study needs
 * @property {(() => Promise<void>)|null} restart  of the server, where that is permitted
 * @property {(import('./queries.js').Dataset & {rows: number})|null} dataset  what the scaling has left; null where it has not been
 * @property {() => Promise<void>} remove
 */

/**
 * @param {string} database @param {string} folder @param {import('../../servers.js').Servers} servers
 * @returns {Promise<Opened>}
 */
export async function openDatabase (database, folder, servers) {
  const { type, options } = DATABASES[database]
  /** What the bench starts. @type {import('../../servers.js').Server[]} */
  const started = []
  const bench = await hereOf(type, servers)
  const running = await bench.start(folder, name => {
    const server = servers(name)
    return {
      ...server,
      async start (/** @type {any} */ wanted) {
        started.push(await server.start(wanted))
        return started[0]
      }
    }
  })
  const { stop, start } = started[0] ?? {}
  return {
    running,
    address: { ...running.address, options: { ...running.address.options, ...options } },
    restart: stop && start ? () => stop().then(() => start()) : null,
    dataset: null,
    remove: () => running.remove()
  }
}

/**
 * An empty table with its index.
 * @param {Opened} opened @param {string} database @param {import('../../../batch/batch.js').Batch} batch  one of those that are to come
 */
export async function emptyTable (opened, database, batch) {
  opened.dataset = null
  await opened.running.clear()
  await beforeTable(database, opened.address)
  await makeTable(opened.address, batch)
  await indexTable(opened.address)
}
