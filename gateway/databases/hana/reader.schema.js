import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

const { table, layout, source, sensorColumn, valueColumn } = tableProperties

/** Options of reading a SAP HANA table. */
export const schema = {
  type: 'object',
  title: 'SAP HANA',
  description: 'Reads a table that a SAP HANA sink has made. Statistics are computed in the gateway, from the samples. No SAP HANA was ' +
    'met while this was built: it is tested with a fake server only.',
  additionalProperties: false,
  properties: {
    table,
    layout: { ...layout, enum: sink.properties.layout.enum },
    source,
    sensorColumn,
    valueColumn
  }
}
