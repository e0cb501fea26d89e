import { layoutProperties } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'
import { upsertProperties } from '../upsert/layout.js'
import { dialect } from './dialect.js'

/** Options of the PostgreSQL sink. */
export const schema = {
  type: 'object',
  title: 'PostgreSQL',
  description: 'Stores batches in PostgreSQL by binary COPY, each sample exactly once.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
        'added as fields appear: time (timestamptz, rounded down to microseconds), time_ns (bigint, the exact nanoseconds since ' +
        '1970 UTC), one column per tag and field, and source where all share a table. What is missing becomes NULL.',
      minLength: 1,
      'x-maxBytes': dialect.maxNameBytes,
      default: '{source}'
    },
    ...layoutProperties,
    ...upsertProperties,
    ...retentionProperties,
    schema: {
      type: 'string',
      title: 'Schema',
      description: 'The schema of the tables. Created when missing.',
      minLength: 1,
      'x-maxBytes': dialect.maxNameBytes,
      default: 'public',
      'x-advanced': true
    },
    index: {
      type: 'string',
      title: 'Index',
      description: 'The index on time of a table that the sink creates: btree finds single times fastest (a narrow table\'s is on ' +
        'time and sensor), brin is tiny and slows writing least, none leaves it to you.',
      enum: ['btree', 'brin', 'none'],
      'x-labels': { btree: 'btree: finds fastest', brin: 'brin: tiny, slows writing least', none: 'none' },
      default: 'btree',
      'x-advanced': true
    },
    keyFields: {
      type: 'array',
      items: { type: 'string', title: 'Field or tag' },
      title: 'Key fields',
      description: 'Fields or tags that say what a row is about, such as sensor_id, one a line: a btree index of a wide table that the ' +
        'sink creates is on time and these, and its chunks are compressed by these. The first batch must have them.',
      default: [],
      'x-when': { layout: 'wide' },
      'x-advanced': true
    },
    hypertable: {
      type: 'boolean',
      title: 'Hypertable',
      description: 'The tables that the sink creates become hypertables by time, which needs TimescaleDB in the database.',
      'x-check': 'no-upsert',
      default: false,
      'x-advanced': true
    },
    chunkHours: {
      type: 'integer',
      title: 'Chunk interval',
      description: 'How much time one chunk of a hypertable holds. The chunks being written, with their indexes, should fit into a ' +
        'quarter of the server\'s memory.',
      minimum: 1,
      maximum: 87_600,
      default: 24,
      'x-unit': 'hours',
      'x-when': { hypertable: true },
      'x-advanced': true
    },
    compressAfterHours: {
      type: 'integer',
      title: 'Compress after',
      description: 'Chunks older than this are compressed by the server, those of a narrow table by sensor, of a wide one by its ' +
        'key fields. 0 compresses none.',
      minimum: 0,
      maximum: 876_000,
      default: 0,
      'x-unit': 'hours',
      'x-when': { hypertable: true },
      'x-advanced': true
    }
  }
}
