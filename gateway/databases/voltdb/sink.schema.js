import { withoutDocuments } from '../../batch/layouts.js'
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
    layout: withoutDocuments,
    ...retentionProperties
  }
}
