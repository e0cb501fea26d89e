import { layoutProperties } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'
import { UPSERT_LABEL, upsertProperties, withUpsert } from '../upsert/layout.js'

/** Options of the HBase sink. */
export const schema = {
  type: 'object',
  title: 'HBase',
  description: 'Stores batches in HBase through its REST server, each sample exactly once: the key of a row names its time, its batch ' +
    'and its place in it, so that writing it again changes nothing.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing. Its column family d ' +
        'has a column for each field and tag, time_ns (the nanoseconds since 1970 UTC) and, where all share a table, source; values are ' +
        'bytes as HBase\'s own Bytes writes them. What is missing is left out.',
      minLength: 1,
      default: '{source}'
    },
    layout: withUpsert({
      ...layoutProperties.layout,
      description: 'wide: a row per time, a column per field. narrow: a row per value, with columns sensor (the field\'s name) and ' +
        'value; what a double does not hold exactly goes to value_int64, value_string or value_bytes.',
      enum: /** @type {const} */ (['wide', 'narrow']),
      'x-labels': { wide: 'wide: a row per time', narrow: 'narrow: a row per value', ...UPSERT_LABEL }
    }),
    key: upsertProperties.key,
    keepDays: {
      ...retentionProperties.keepDays,
      description: 'How long after it was stored a row is removed: by the server, as TTL of the column family; 0.5 is twelve hours. A ' +
        'change is of all rows, also of those that are there. 0 keeps all for ever.',
      maximum: 7300,
      'x-when': { layout: ['wide', 'narrow'] }
    }
  }
}
