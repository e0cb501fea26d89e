import { layoutProperties } from '../../batch/layouts.js'

/** Options of the DuckDB sink. */
export const schema = {
  type: 'object',
  title: 'DuckDB',
  description: 'Stores batches in a DuckDB file, each sample exactly once.',
  additionalProperties: false,
  properties: {
    file: {
      type: 'string',
      title: 'File',
      description: 'The database file. It and its folder are created when missing. No other process can open it while this one uses it.',
      minLength: 1,
      default: 'sluice.duckdb'
    },
    table: {
      type: 'string',
      title: 'Table',
      description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are added ' +
        'as fields appear: time (TIMESTAMP_NS, UTC), one column per tag and field, and source where all share a table. ' +
        'What is missing becomes NULL.',
      minLength: 1,
      default: '{source}'
    },
    ...layoutProperties
  }
}
