import { gatewayId } from '../../broker/gateway-id.js'
import { connect } from '../../broker/kafka/trial.js'
import { dataDir } from '../node.js'
import { defineServer } from './server-node.js'
import { schema } from './kafka-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-kafka-server', schema, 'kafka', async () => {
    const gateway = await gatewayId(dataDir(RED))
    return { connect: options => connect(options, gateway) } // batches may be staged there, too
  })
}
