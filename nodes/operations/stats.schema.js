import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  properties: {
    intervalMs: {
      type: 'integer',
      title: 'Report every',
      description: 'How often a report is sent. Rates and interval latencies are over this time. A message to the node asks for a ' +
        'report in between.',
      default: 1000,
      minimum: 100,
      maximum: 3_600_000,
      'x-unit': 'ms'
    },
    resources: {
      type: 'boolean',
      title: 'Resources',
      description: 'Adds what the gateway, its data folder and the machine use: processor time, memory, disk, network, cgroup. Linux only.',
      default: false
    }
  }
})
