import { layoutProperties } from '../../batch/layouts.js'

/** Options of the SQLite sink. */
export const schema = {
  type: 'object',
  title: 'SQLite',
  description: 'Stores batches in an SQLite file, each sample exactly once.',
  additionalProperties: false,
  properties: {
    file: {
      type: 'string',
      title: 'File',
      description: 'The database file. It and its folder are created when missing.',
      minLength: 1,
      default: 'sluice.sqlite'
    },
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
        'added as fields appear: time (INTEGER, nanoseconds since 1970 UTC), one column per tag and field, and source where all ' +
        'share a table. What is missing becomes NULL, and so does NaN, which SQLite cannot hold.',
      minLength: 1,
      default: '{source}'
    },
    ...layoutProperties
  }
}
