import { tableProperties } from '../reading/table.js'
import { PAPER } from './paper-layouts.js'

/** Options of reading a MySQL table. */
export const schema = {
  type: 'object',
  title: 'MySQL',
  description: 'Reads a table or view of MySQL or MariaDB.',
  additionalProperties: false,
  properties: { ...tableProperties, layout: { ...tableProperties.layout, enum: [...tableProperties.layout.enum, ...PAPER] } }
}
