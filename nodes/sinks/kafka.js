import { gatewayId } from '../../broker/gateway-id.js'
import { dataDir } from '../node.js'
import { defineSink } from './sink-node.js'
import { schema } from './kafka.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-kafka', schema, {
    sink: 'kafka',
    toSinkOptions: async options => ({ ...options, writer: options.writer || await gatewayId(dataDir(RED)) })
  })
}
