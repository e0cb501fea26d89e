import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

/** Options of reading an SQLite file. */
export const schema = {
  type: 'object',
  title: 'SQLite',
  description: 'Reads a table of an SQLite file.',
  additionalProperties: false,
  properties: {
    file: { ...sink.properties.file, description: 'The database file.' },
    ...tableProperties
  }
}
