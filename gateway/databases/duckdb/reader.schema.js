import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

/** Options of reading a DuckDB file. */
export const schema = {
  type: 'object',
  title: 'DuckDB',
  description: 'Reads a table of a DuckDB file.',
  additionalProperties: false,
  properties: {
    file: { ...sink.properties.file, description: 'The database file.' },
    ...tableProperties
  }
}
