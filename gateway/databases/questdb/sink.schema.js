import { withoutDocuments } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'

/** Options of the QuestDB sink. */
export const schema = {
  type: 'object',
  title: 'QuestDB',
  description: 'Stores batches in QuestDB by line protocol over HTTP, each sample exactly once: the key of a row names its batch and its ' +
    'place in it, so that writing it again changes nothing.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
        'added. Its columns are timestamp (nanoseconds), sluice_batch and sluice_row (its key), source where all share a table, the ' +
        'tags as symbols, and the fields; truth values as 0 and 1. What is missing is NULL, and so is NaN.',
      minLength: 1,
      default: '{source}'
    },
    layout: withoutDocuments,
    ...retentionProperties
  }
}
