import { connect } from '../../broker/connection/connection.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { SluiceError, describe } from '../../gateway/base/errors.js'
import { dataDir, logOf } from '../node.js'

/** @typedef {import('../../broker/connection/connection.js').ClientOptions} ClientOptions */

const SESSION_EXPIRY_SECONDS = 7 * 86_400

/**
 * A node's own connection to the broker it names, with a session that outlives it: its id is made of gateway, role and node.
 * `flaw` is later set to what about that broker breaks the promise, if anything does.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {{broker: string, role: 'in'|'out'|'foreign'} & Pick<ClientOptions, 'receiveMaximum'|'will'|'read'>} options
 */
export async function openConnection (RED, node, { broker, role, ...options }) {
  const brokerNode = RED.nodes.getNode(broker)
  if (!brokerNode?.options) {
    throw new SluiceError('SLUICE_BROKER_MISSING', 'The broker of this node is missing or not set up.', {
      fix: 'Choose a broker in its form, and deploy.'
    })
  }
  const gateway = await gatewayId(dataDir(RED))
  const connection = connect(brokerNode.options, {
    clientId: `sluice-${gateway}-${role}-${node.id}`,
    clean: false,
    sessionExpirySeconds: SESSION_EXPIRY_SECONDS,
    ...options,
    log: logOf(node)
  })
  const opened = {
    gateway,
    connection,
    flaw: /** @type {string|null} */ (null),
    /** In full, for the gauges. */
    get problem () { return connection.problem ? describe(connection.problem) : opened.flaw }
  }
  connection.client.once('connect', async () => {
    opened.flaw = await brokerNode.check().catch((/** @type {unknown} */ error) => describe(error))
  })
  return opened
}

/** For the stats: which broker it is, and what is wrong with it. @param {Awaited<ReturnType<typeof openConnection>>} link */
export function brokerOf ({ connection, problem }) {
  return { broker: connection.place, problem }
}
