import { SluiceError } from '../../gateway/base/errors.js'
import { serverTypes } from '../../gateway/databases/index.js'
import { serveTests } from '../connection-test.js'
import { defineNode, logOf } from '../node.js'

/** @typedef {{server: import('../../gateway/databases/sink.js').Server, release: () => void}} Lease */

/**
 * Defines a config node that holds the connections to one database server, which all nodes that name it share: each takes a lease with
 * `node.lease()`, and the connections end once all have returned theirs. Its form can test what it holds.
 * @param {import('../node.js').RED} RED
 * @param {string} type  of the node
 * @param {object} schema
 * @param {string} database  a key of `serverTypes`
 * @param {() => Promise<import('../connection-test.js').Module>} [tried]  what its test tries, where that is more than the database
 */
export function defineServer (RED, type, schema, database, tried = serverTypes[database]) {
  serveTests(RED, type, schema, tried)
  defineNode(RED, type, schema, (node, options) => {
    node.options = options // for the bench, which connects in a process of its own
    /** @type {Promise<import('../../gateway/databases/sink.js').Server>|null} */
    let opening = null
    /** @type {Set<Promise<void>>} */
    const leases = new Set()

    /** @returns {Promise<Lease>} */
    node.lease = async () => {
      const { promise, resolve } = Promise.withResolvers()
      leases.add(promise)
      const release = () => {
        leases.delete(promise)
        resolve(undefined)
      }
      try {
        opening ??= serverTypes[database]().then(({ connect }) => connect(options, { log: logOf(node) }))
        return { server: await opening, release }
      } catch (error) {
        opening = null
        release()
        throw error
      }
    }
    node.on('close', async (/** @type {(error?: unknown) => void} */ done) => {
      try {
        while (leases.size > 0) await Promise.all(leases) // the sinks still store what they have
        await (await opening)?.close()
        done()
      } catch (error) {
        done(error)
      }
    })
  })
}

/**
 * A lease of the server that a node's form names.
 * @param {import('../node.js').RED} RED
 * @param {string} id  of the config node
 * @returns {Promise<Lease>}
 */
export async function leaseServer (RED, id) {
  const node = RED.nodes.getNode(id)
  if (!node?.lease) {
    throw new SluiceError('SLUICE_SERVER_MISSING', 'The database server of this node is missing or not set up.', {
      fix: 'Choose a server in its form, and deploy.'
    })
  }
  return node.lease()
}
