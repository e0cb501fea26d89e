import { schema as device } from '../../gateway/modbus/device.schema.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'The device\'s name in the flow and in the tag "device" of its batches. Empty: its address.',
      default: ''
    }
  }
}, device)
