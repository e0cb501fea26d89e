import { nodeSchema } from '../schema.js'
import { brokerOption } from './broker.option.js'
import { gatheringProperties, intervalProperty } from './gathering.js'
import { mappingsProperty } from './mappings.option.js'

export const schema = nodeSchema(brokerOption, {
  properties: {
    source: {
      type: 'string',
      title: 'Source',
      description: 'The name of the source, for messages that bring none. A batch keeps its own; any other message is named by its ' +
        'topic where this is empty.',
      default: '',
      'x-labels': { '': 'the topic' }
    },
    mappings: mappingsProperty('message'),
    whenFull: {
      type: 'string',
      title: 'When full',
      description: 'What happens when the spool has reached its size. Pause the sources: a player waits, a simulator skips samples and ' +
        'counts them. Drop the oldest: what no sink has stored yet may be lost, and is counted.',
      enum: ['block', 'drop-oldest'],
      'x-labels': { block: 'pause the sources', 'drop-oldest': 'drop the oldest, counted' },
      default: 'block'
    },
    spoolMegabytes: {
      type: 'integer',
      title: 'Spool size',
      description: 'The most the spool may take on disk. It holds what the sinks have not stored yet.',
      minimum: 1,
      maximum: 1_000_000,
      default: 1024,
      'x-unit': 'MiB'
    },
    fsync: {
      type: 'string',
      title: 'Write to disk',
      description: 'When accepted batches are forced to disk. Every batch: a power cut loses nothing accepted. At intervals: a power ' +
        'cut loses at most the interval, a killed process nothing. Left to the system: a power cut loses what the system ' +
        'had not written yet, about 30 s; a killed process nothing.',
      enum: ['batch', 'interval', 'system'],
      'x-labels': { batch: 'every batch', interval: 'at intervals', system: 'left to the system' },
      default: 'interval'
    },
    fsyncIntervalMs: {
      type: 'integer',
      title: 'Interval',
      description: 'The most that a power cut can cost.',
      minimum: 10,
      maximum: 60_000,
      default: 1000,
      'x-unit': 'ms',
      'x-when': { fsync: 'interval' }
    },
    ...gatheringProperties,
    ...intervalProperty,
    maxSources: {
      type: 'integer',
      title: 'Sources',
      description: 'How many sources this node accepts: each gets a spool and tables of its own. When there are more, new ones are ' +
        'refused until a source has been silent for ten minutes.',
      minimum: 1,
      maximum: 1000,
      default: 500,
      'x-advanced': true
    }
  }
})
