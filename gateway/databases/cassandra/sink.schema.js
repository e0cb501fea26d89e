import { LAYOUTS, layoutProperties } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'
import { UPSERT_LABEL, upsertProperties, withUpsert } from '../upsert/layout.js'

/** Options of the Cassandra sink. */
export const schema = {
  type: 'object',
  title: 'Cassandra',
  description: 'Stores batches in Cassandra, each sample exactly once: the key of a row names its batch and its place in it, so that ' +
    'writing it again changes nothing.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
        'added. Its columns are time (a timestamp, rounded down to milliseconds), time_ns (a bigint, the exact nanoseconds since 1970 ' +
        'UTC), source where all share a table, the tags and the fields. What is missing is left unset.',
      minLength: 1,
      default: '{source}'
    },
    ...layoutProperties,
    ...upsertProperties,
    layout: withUpsert({
      ...layoutProperties.layout,
      description: 'wide: a row per time, a column per field. narrow: a row per value, with columns sensor (the field\'s name) and ' +
        'value; what a double does not hold exactly goes to value_int64, value_string or value_bytes. document: a row per interval, ' +
        'with columns size and measurements, a JSON document of its samples; what is larger than 1 MiB becomes several.',
      enum: LAYOUTS,
      'x-labels': {
        wide: 'wide: a row per time', narrow: 'narrow: a row per value', document: 'document: a row per interval', ...UPSERT_LABEL
      }
    }),
    bucketMinutes: {
      type: 'integer',
      title: 'Partitions of',
      description: 'The length of time whose rows of a source are one partition of a new table. A partition should have no more than ' +
        '100,000 rows, or 100 MB: of 1000 rows a second, a minute. A table keeps the length it was made with.',
      minimum: 1,
      maximum: 525_600,
      default: 60,
      'x-unit': 'min',
      'x-when': { layout: ['wide', 'narrow', 'document'] }
    },
    keepDays: {
      ...retentionProperties.keepDays,
      description: 'How long after it was stored a row is removed: by the server, as default_time_to_live of the table; 0.5 is twelve ' +
        'hours. A change is of what is stored from then on. 0 keeps all for ever.',
      maximum: 7300
    }
  }
}
