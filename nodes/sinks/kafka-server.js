import { gatewayId } from '../../broker/gateway-id.js'
import { dataDir } from '../node.js'
import { defineServer } from './server-node.js'
import { schema } from './kafka-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-kafka-server', schema, 'kafka', async () => {
    const [{ connect }, gateway] = await Promise.all([import('../../broker/kafka/trial.js'), gatewayId(dataDir(RED))])
    return { connect: options => connect(options, gateway) } // batches may be staged there, too
  })
}
