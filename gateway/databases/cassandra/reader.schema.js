import { tableProperties } from '../reading/table.js'

const { table, layout, intervalMs, source, sensorColumn, valueColumn } = tableProperties

/** Options of reading a Cassandra table. */
export const schema = {
  type: 'object',
  title: 'Cassandra',
  description: 'Reads a table that a Cassandra sink has made. Statistics are computed in the gateway, from the samples.',
  additionalProperties: false,
  properties: {
    table,
    layout,
    intervalMs,
    source,
    sensorColumn,
    valueColumn
  }
}
