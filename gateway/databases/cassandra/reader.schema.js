import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

const { table, layout, source, sensorColumn, valueColumn } = tableProperties

/** Options of reading a Cassandra table. */
export const schema = {
  type: 'object',
  title: 'Cassandra',
  description: 'Reads a table that a Cassandra sink has made. Statistics are computed in the gateway, from the samples.',
  additionalProperties: false,
  properties: {
    table,
    layout: { ...layout, enum: sink.properties.layout.enum },
    source,
    sensorColumn,
    valueColumn
  }
}
