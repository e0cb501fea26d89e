import { gatewayId } from '../../broker/gateway-id.js'
import { listenToMqtt } from '../../broker/listening/mqtt.js'
import { connect } from '../../broker/preflight/trial.js'
import { serveTests } from '../connection-test.js'
import { dataDir, defineNode } from '../node.js'
import { schema } from './broker.schema.js'
import { listenBy, serveTopicTries } from './try-topics.js'

/**
 * Holds the `options` of a connection for the nodes that refer to it; null where they are wrong.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  serveTopicTries(RED)
  listenBy('sluice-broker', {
    schema,
    listen: (options, { topics, mapper }, more) => listenToMqtt(options, [...mapper.filters, ...topics], more)
  })
  serveTests(RED, 'sluice-broker', schema, async () => {
    const gateway = await gatewayId(dataDir(RED))
    return { connect: options => connect(options, gateway) }
  })
  defineNode(RED, 'sluice-broker', schema, (node, options) => {
    node.options = options
  })
}
