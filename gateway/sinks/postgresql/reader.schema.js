import { tableProperties } from '../../queries/table.js'
import { schema as sink } from './schema.js'

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
