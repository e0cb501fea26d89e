import { connect } from '../../broker/connection/connection.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { preflight } from '../../broker/preflight/preflight.js'
import { SluiceError, describe } from '../../gateway/base/errors.js'
import { dataDir, logOf } from '../node.js'
import { checkOnce } from './check.js'

/**
 * @typedef {import('../../broker/connection/connection.js').ClientOptions} ClientOptions
 * @typedef {import('../../broker/kafka/connection.js').KafkaClientOptions} KafkaClientOptions
 * @typedef {Pick<ClientOptions, 'receiveMaximum'|'will'|'read'> & Pick<KafkaClientOptions, 'group'|'onShare'|'onDouble'>} Wanted
 */

const SESSION_EXPIRY_SECONDS = 7 * 86_400

/**
 * What batches can be staged in, by the type of the config node. What few gateways have is loaded when it is first used.
 * @type {Record<string, () => Promise<{
 *   connect: (options: any, clientOptions: ClientOptions & Wanted) => import('../../broker/client.js').BrokerConnection,
 *   preflight: typeof preflight
 * }>>}
 */
const BROKERS = {
  'sluice-broker': async () => ({ connect, preflight }),
  'sluice-kafka-server': async () => ({
    connect: (await import('../../broker/kafka/connection.js')).connectKafka,
    preflight: (await import('../../broker/kafka/preflight.js')).preflight
  })
}

/**
 * A client of the broker that a config node is for.
 * @param {import('../node.js').RED} RED
 * @param {string} broker  id of the config node
 * @param {ClientOptions & Wanted} clientOptions
 */
export async function connectTo (RED, broker, clientOptions) {
  const node = RED.nodes.getNode(broker)
  const load = node?.options ? BROKERS[node.type] : undefined
  if (!load) {
    throw new SluiceError('SLUICE_BROKER_MISSING', 'The broker of this node is missing or not set up.', {
      fix: 'Choose a broker in its form, and deploy.'
    })
  }
  const kind = await load()
  const check = (/** @type {string} */ gateway) => checkOnce(node, () => kind.preflight(node.options, { gateway }))
  return { connection: kind.connect(node.options, clientOptions), check }
}

/**
 * A node's own connection to the broker it names, with a session that outlives it: its id is made of gateway, role and node.
 * `flaw` is later set to what about that broker breaks the promise, if anything does.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {{broker: string, role: 'in'|'out'|'foreign'} & Wanted} options
 */
export async function openConnection (RED, node, { broker, role, ...options }) {
  const gateway = await gatewayId(dataDir(RED))
  const clientId = `sluice-${gateway}-${role}-${node.id}`
  const session = { clientId, clean: false, sessionExpirySeconds: SESSION_EXPIRY_SECONDS, group: role === 'in' ? clientId : undefined }
  const { connection, check } = await connectTo(RED, broker, { ...session, ...options, log: logOf(node) })
  const opened = {
    gateway,
    connection,
    flaw: /** @type {string|null} */ (null),
    /** In full, for the gauges. */
    get problem () { return connection.problem ? describe(connection.problem) : opened.flaw }
  }
  connection.client.once('connect', async () => {
    opened.flaw = await check(gateway).catch((/** @type {unknown} */ error) => describe(error))
  })
  return opened
}

/** For the stats: which broker it is, and what is wrong with it. @param {Awaited<ReturnType<typeof openConnection>>} link */
export function brokerOf ({ connection, problem }) {
  return { broker: connection.place, problem }
}
