import { layoutProperties } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'
import { nameRules } from './dialect.js'

/** Options of the ClickHouse sink. */
export const schema = {
  type: 'object',
  title: 'ClickHouse',
  description: 'Stores batches in ClickHouse by inserts in its Native columnar format, each sample exactly once: by one gateway per ' +
    'source and table, into MergeTree tables without partitions.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created as a MergeTree when missing, and ' +
        'columns are added as fields appear: time (DateTime64(9), or on servers older than 22.3 DateTime, and time_ns beside it), one ' +
        'column per tag and field, source where all share a table, and sluice_epoch, sluice_seq and sluice_batch, which identify ' +
        'batches that are stored. What is missing becomes NULL. Another engine of the MergeTree family, or a table with partitions, ' +
        'stores at least once.',
      minLength: 1,
      'x-maxBytes': nameRules.maxNameBytes,
      default: '{source}'
    },
    ...layoutProperties,
    ...retentionProperties
  }
}
