import { nodeSchema } from '../schema.js'

const ID = '^[^/+#]*$'

export const schema = nodeSchema({
  required: ['broker'],
  properties: {
    broker: {
      type: 'string',
      title: 'Broker',
      description: 'The MQTT broker the host applications listen to.',
      'x-node': 'sluice-broker'
    },
    groupId: {
      type: 'string',
      title: 'Group',
      description: 'The Sparkplug group the edge node belongs to, such as a plant. A name without /, + and #, like those below.',
      pattern: '^[^/+#]+$',
      examples: ['plant-1'],
      maxLength: 100,
      default: 'sluice'
    },
    nodeId: {
      type: 'string',
      title: 'Edge node',
      description: 'The edge node\'s id, its own within the group; empty for the id of this gateway.',
      pattern: ID,
      examples: ['press-line'],
      maxLength: 100,
      default: '',
      'x-labels': { '': 'the id of this gateway' }
    },
    deviceId: {
      type: 'string',
      title: 'Device',
      description: 'The device of all values; {source}, or the name of a tag in braces, stands for that of each batch: {hall}-{machine}. ' +
        'Empty for one device per source, named after it.',
      pattern: ID,
      examples: ['press', '{machine}'],
      maxLength: 100,
      default: '',
      'x-labels': { '': 'named after the source' }
    },
    source: {
      type: 'string',
      title: 'Source',
      description: 'The name of the source, for messages that bring none. A batch keeps its own; any other message is named by its ' +
        'topic where this is empty.',
      default: '',
      'x-labels': { '': 'the topic' }
    },
    primaryHostId: {
      type: 'string',
      title: 'Primary host',
      description: 'Publish only while the host application of this id reports that it is online, and keep the values meanwhile; empty ' +
        'to publish always.',
      pattern: ID,
      examples: ['scada'],
      maxLength: 100,
      default: '',
      'x-labels': { '': 'none' },
      'x-advanced': true
    },
    heldValues: {
      type: 'integer',
      title: 'Held values',
      description: 'The most values kept in memory while broker or primary host is away. They are sent later, marked historical; the ' +
        'oldest beyond that are dropped, and counted.',
      minimum: 0,
      maximum: 10_000_000,
      default: 100_000,
      'x-unit': 'values',
      'x-advanced': true
    }
  }
})
