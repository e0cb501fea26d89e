import { withoutDocuments } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'
import { dialect } from './dialect.js'

/** Options of the SAP HANA sink. */
export const schema = {
  type: 'object',
  title: 'SAP HANA',
  description: 'Stores batches in SAP HANA by inserts of many rows, each sample exactly once: rows and commit record are one ' +
    'transaction. No SAP HANA was met while this was built: it is tested with a fake server only.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in, in the schema of the user; {source} in it stands for the name of the source. Created when ' +
        'missing, and columns are added. Its columns are time, time_ns (all nanoseconds), source where all share a table, the tags and ' +
        'the fields. Texts have up to 5000 letters; NaN is NULL.',
      minLength: 1,
      'x-maxBytes': dialect.maxNameBytes,
      default: '{source}'
    },
    layout: withoutDocuments,
    ...retentionProperties
  }
}
