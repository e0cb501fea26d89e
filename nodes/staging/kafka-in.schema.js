import { nodeSchema } from '../schema.js'
import { serverOption } from '../sinks/sink.schema.js'
import { mappingsProperty } from './mappings.option.js'
import { schema as stageIn, timeUnit } from './stage-in.schema.js'

const { overdueMs, quietMs, settledByFlow } = /** @type {any} */ (stageIn.properties)

export const schema = nodeSchema(serverOption('sluice-kafka-server'), {
  required: ['topics'],
  properties: {
    topics: {
      type: 'array',
      items: { type: 'string', title: 'Topic', pattern: '^[\\w.*-]+$', examples: ['plant.*'], maxLength: 249 },
      title: 'Topics',
      description: 'The topics to read, one a line; * stands for anything: plant.* Topics that come later are read, too; ' +
        'those that begin with sluice_ only where that is written.',
      minItems: 1,
      default: [],
      'x-offers': 'topics'
    },
    group: {
      type: 'string',
      title: 'Group',
      description: 'The consumer group, which shares the partitions among its members: the same in several gateways that share the work. ' +
        'It says where to go on; with another one, all is read again, and what a database has is left out.',
      minLength: 1,
      maxLength: 200,
      default: 'sluice'
    },
    begin: {
      type: 'string',
      title: 'Begin',
      description: 'Where the group begins the first time. Topics and partitions that come later are read from their first record.',
      enum: ['earliest', 'latest'],
      'x-labels': { earliest: 'with the first record', latest: 'with new records' },
      default: 'earliest'
    },
    mappings: { ...mappingsProperty('listen'), title: 'Mappings' },
    inFlight: {
      type: 'integer',
      title: 'In flight',
      description: 'How many batches may be on their way to the sinks: no more is read while a database is slow.',
      minimum: 1,
      maximum: 10_000,
      default: 100,
      'x-unit': 'batches',
      'x-advanced': true
    },
    overdueMs,
    quietMs,
    settledByFlow,
    timeUnit
  }
})
