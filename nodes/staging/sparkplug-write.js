import { connect } from '../../broker/connection/connection.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { Commander } from '../../gateway/sparkplug/command.js'
import { dataDir, defineNode, failed, handlesInput, logOf, throttledStatus } from '../node.js'
import { sentence } from '../status.js'
import { schema } from './sparkplug-write.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-sparkplug-write', schema, async (node, options) => {
    const show = throttledStatus(node)
    const commander = new Commander(options)
    const opening = open(RED, node, options.broker)
    node.on('close', async (/** @type {() => void} */ done) => {
      await opening.then(connection => connection.close(), () => {})
      done()
    })

    handlesInput(node, async (message, send) => {
      try {
        const { topic, payload } = commander.command(message.payload)
        const { client, problem } = await opening
        await client.publishAsync(topic, payload, { qos: 0 }).catch(cause => {
          throw new SluiceError('SLUICE_SPARKPLUG_WRITE', `Nothing was sent: ${describe(problem ?? cause)}`, { cause })
        })
        send(message)
        show({ fill: 'green', shape: 'dot', text: sentence(`sent: ${Object.keys(message.payload).join(', ')}`) })
      } catch (error) {
        show(failed(error))
        throw error
      }
    })
    await opening
    const ready = /** @type {const} */ ({ fill: 'grey', shape: 'dot', text: 'nothing written yet' })
    node.status(options.allowed ? ready : { fill: 'grey', shape: 'ring', text: 'writing is not allowed' })
  })
}

/** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {string} broker */
async function open (RED, node, broker) {
  const brokerNode = RED.nodes.getNode(broker)
  if (!brokerNode?.options) {
    throw new SluiceError('SLUICE_BROKER_MISSING', 'The broker of this node is missing or not set up.', {
      fix: 'Choose a broker in its form, and deploy.'
    })
  }
  const gateway = await gatewayId(dataDir(RED))
  return connect(brokerNode.options, { clientId: `sluice-${gateway}-command-${node.id}`, log: logOf(node) })
}
