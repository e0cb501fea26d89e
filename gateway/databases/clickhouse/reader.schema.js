import { tableProperties } from '../reading/table.js'

/** Options of reading a ClickHouse table. */
export const schema = {
  type: 'object',
  title: 'ClickHouse',
  description: 'Reads a table or view of ClickHouse.',
  additionalProperties: false,
  properties: { ...tableProperties }
}
