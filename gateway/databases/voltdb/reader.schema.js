import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

const { table, layout, source, sensorColumn, valueColumn } = tableProperties

/** Options of reading a VoltDB table. */
export const schema = {
  type: 'object',
  title: 'VoltDB',
  description: 'Reads a table that a VoltDB sink has made. Statistics are computed in the gateway, from the samples.',
  additionalProperties: false,
  properties: {
    table,
    layout: { ...layout, enum: sink.properties.layout.enum },
    source,
    sensorColumn,
    valueColumn
  }
}
