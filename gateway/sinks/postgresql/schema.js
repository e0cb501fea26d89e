import { layoutProperties } from '../layouts.js'

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
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are added as fields appear: ' +
        'time (timestamptz, rounded down to microseconds), time_ns (bigint, the exact nanoseconds since 1970 UTC), one column per tag and field, ' +
        'and source where all share a table. What is missing becomes NULL.',
      minLength: 1,
      default: '{source}'
    },
    ...layoutProperties,
    schema: {
      type: 'string',
      title: 'Schema',
      description: 'The schema of the tables. Created when missing.',
      minLength: 1,
      default: 'public',
      'x-advanced': true
    },
    index: {
      type: 'string',
      title: 'Index',
      description: 'The index on time of a table that the sink creates: btree finds single times fastest, brin is tiny and slows writing least, none leaves it to you.',
      enum: ['btree', 'brin', 'none'],
      default: 'btree',
      'x-advanced': true
    }
  }
}
