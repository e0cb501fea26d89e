import { tableProperties } from '../reading/table.js'

const { table, layout, source, sensorColumn, valueColumn } = tableProperties

/** Options of reading an HBase table. */
export const schema = {
  type: 'object',
  title: 'HBase',
  description: 'Reads a table that an HBase sink has made. Statistics are computed in the gateway, from the samples.',
  additionalProperties: false,
  properties: {
    table,
    layout: { ...layout, enum: /** @type {const} */ (['wide', 'narrow']) },
    source,
    sensorColumn,
    valueColumn
  }
}
