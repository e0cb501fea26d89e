import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  properties: {
    intervalMs: {
      type: 'integer',
      title: 'Report every',
      description: 'How often a report is sent, at most ten times a second; 0: only when a message asks for one. Rates and interval ' +
        'latencies are over this time, with 0 over the last second at most.',
      default: 0,
      minimum: 0,
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
