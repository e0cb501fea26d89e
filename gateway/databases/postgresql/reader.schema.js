import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

/** Options of reading a PostgreSQL table. */
export const schema = {
  type: 'object',
  title: 'PostgreSQL',
  description: 'Reads a table or view of PostgreSQL.',
  additionalProperties: false,
  properties: {
    ...tableProperties,
    schema: { ...sink.properties.schema, description: 'The schema of the table.' }
  }
}
