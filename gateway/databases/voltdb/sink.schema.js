import { layoutProperties } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'

/** Options of the VoltDB sink. */
export const schema = {
  type: 'object',
  title: 'VoltDB',
  description: 'Stores batches in VoltDB by its procedure of bulk loading, each sample exactly once: the key of a row names its batch ' +
    'and its place in it, so that writing it again changes nothing.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
        'added. Its columns are time_ns (nanoseconds), sluice_batch and sluice_row (its key), source where all share a table, the ' +
        'tags, and the fields; truth values as 0 and 1. What is missing is NULL.',
      minLength: 1,
      default: '{source}'
    },
    layout: {
      ...layoutProperties.layout,
      description: 'wide: a row per time, a column per field. narrow: a row per value, with columns sensor (the field\'s name) and ' +
        'value; what a double does not hold exactly goes to value_int64, value_string or value_bytes.',
      enum: /** @type {const} */ (['wide', 'narrow']),
      'x-labels': { wide: 'wide: a row per time', narrow: 'narrow: a row per value' }
    },
    ...retentionProperties
  }
}
