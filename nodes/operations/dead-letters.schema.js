import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  properties: {
    sink: {
      type: 'string',
      title: 'Sink',
      description: 'The name of the sink whose dead letters this node reports. Empty: of all sinks in this gateway.',
      default: ''
    }
  }
})
