import { tableProperties } from '../reading/table.js'
import { schema as sink } from './sink.schema.js'

/** Options of reading from InfluxDB. */
export const schema = {
  type: 'object',
  title: 'InfluxDB',
  description: 'Reads a measurement of InfluxDB, by InfluxQL.',
  additionalProperties: false,
  properties: {
    table: {
      ...tableProperties.table,
      title: 'Measurement',
      description: 'The measurement to read: what the sink\'s became, with {source} filled in.'
    },
    layout: {
      ...tableProperties.layout,
      description: 'How the measurement holds samples. wide: a point per time, a field per sensor. narrow: a point per value, with ' +
        'the sensor as a tag.',
      enum: sink.properties.layout.enum
    },
    source: {
      ...tableProperties.source,
      description: 'Of a measurement that several sources share: reads only this one. Empty reads all.'
    },
    sensorColumn: { ...tableProperties.sensorColumn, title: 'Sensor tag', description: 'The tag of the sensors\' names.' },
    valueColumn: {
      ...tableProperties.valueColumn,
      title: 'Value field',
      description: 'The field of values. Those of that name with _int64, _string or _bytes at their end are read as well.'
    },
    retentionPolicy: {
      ...sink.properties.retentionPolicy,
      description: 'Of version 1: which one to read from. Empty is the database\'s default.'
    }
  }
}
