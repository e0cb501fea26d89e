import { schema as command } from '../../gateway/sparkplug/command.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  required: ['broker'],
  properties: {
    broker: {
      type: 'string',
      title: 'Broker',
      description: 'The MQTT broker the edge node is connected to.',
      'x-node': 'sluice-broker'
    }
  }
}, command)
