import { setTimeout as sleep } from 'node:timers/promises'
import { silence } from '../connecting/failure.js'
import { CONNECT_TIMEOUT_MS } from '../connecting/limits.js'

/**
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('cassandra-driver').Host} Host
 * @typedef {{hosts: Host[], connection: {closeAsync: () => Promise<void>}|null}} Remains
 */

/** Nodes to which there is no connection soon are left alone until there is. */
const REACHED_MS = 2000

/**
 * What the driver does not keep track of: hosts that it has replaced, and the connection with which it looks for nodes, of which it
 * leaves the one before open.
 * @param {any} client  parts of which are the driver's own
 * @returns {Remains}
 */
export function remainsOf (client) {
  const remains = /** @type {Remains} */ ({ hosts: [], connection: null })
  client.on('hostRemove', (/** @type {Host} */ gone) => { remains.hosts.push(gone) })
  const { controlConnection: control } = client
  const create = control._createConnection
  control._createConnection = async (/** @type {string} */ endpoint) => {
    const connection = await inTime(create.call(control, endpoint))
    remains.connection?.closeAsync()
    remains.connection = connection
    return connection
  }
  return remains
}

/**
 * One that does not answer may accept connections all the same, and another may be there to be asked.
 * @template {{closeAsync: () => Promise<void>}} Connection
 * @param {Promise<Connection>} opening
 */
async function inTime (opening) {
  const late = new AbortController()
  const limit = sleep(CONNECT_TIMEOUT_MS, undefined, { signal: late.signal }).then(() => { throw silence(CONNECT_TIMEOUT_MS) })
  try {
    return await Promise.race([opening, limit])
  } catch (error) {
    opening.then(connection => connection.closeAsync(), () => {})
    throw error
  } finally {
    late.abort()
  }
}

/**
 * Waits for connections to all nodes. The driver itself would wait for one that is silent; or, told not to, fail where it asks one first to
 * which it has no connection yet.
 * @param {Client} client
 * @param {string} dataCenter  whose nodes are used; those of all where it is empty
 */
export async function reach (client, dataCenter) {
  const used = client.hosts.values().filter(({ datacenter }) => dataCenter === '' || datacenter === dataCenter)
  const find = () => {
    const state = client.getState()
    return used.filter(host => host.isUp() && state.getOpenConnections(host) === 0)
  }
  const untilMs = performance.now() + REACHED_MS
  while (find().length > 0 && performance.now() < untilMs) await sleep(20)
  for (const host of /** @type {any[]} */ (find())) host.setDown()
}

/**
 * The driver leaves hosts behind that go on connecting, or counting: of a client that has never connected, of one that was shut down
 * while something was under way, and those that it has replaced.
 * @param {Client} client
 * @param {Remains} [remains]
 */
export async function shutDownHosts (client, { hosts, connection } = { hosts: [], connection: null }) {
  const left = /** @type {any[]} */ ([...client.hosts?.values() ?? [], ...hosts])
  // One that was just connecting as the driver gave it up begins anew once that has ended.
  for (const host of left) host.pool.once('close', () => host.shutdown(false))
  await Promise.all([...left.map(host => host.shutdown(false)), connection?.closeAsync()])
}
