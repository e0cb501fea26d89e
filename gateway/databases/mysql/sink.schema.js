import { retentionProperties } from '../retention.schema.js'
import { properties } from './layouts.js'
import { dialect } from './dialect.js'

/** Options of the MySQL sink. */
export const schema = {
  type: 'object',
  title: 'MySQL',
  description: 'Stores batches in MySQL or MariaDB by LOAD DATA, or INSERT where that is not allowed, each sample exactly once. There ' +
    'is no NaN, which becomes NULL, and no infinity: such rows are refused.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
        'added as fields appear: time_ns (bigint, the exact nanoseconds since 1970 UTC, by which rows are ordered), time ' +
        '(datetime(6), computed from it and rounded down to microseconds: ask for ranges of time_ns, which are fast), one column ' +
        'per tag and field, and source where all share a table. What is missing becomes NULL.',
      minLength: 1,
      'x-maxBytes': dialect.maxNameBytes,
      default: '{source}'
    },
    ...properties,
    ...retentionProperties
  }
}
