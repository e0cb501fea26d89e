import { tableProperties } from '../reading/table.js'

const { table, timeColumn, sensorColumn, valueColumn } = tableProperties

/** Options of reading a MongoDB collection. */
export const schema = {
  type: 'object',
  title: 'MongoDB',
  description: 'Reads a collection of MongoDB. Time-series collections are read as wide. Statistics are computed in the gateway, from ' +
    'the samples.',
  additionalProperties: false,
  properties: {
    ...tableProperties,
    layout: { ...tableProperties.layout, enum: [...tableProperties.layout.enum, 'paper-individual', 'paper-bulk'] },
    table: {
      ...table,
      title: 'Collection',
      description: 'The collection to read: what the sink\'s collection became, with {source} filled in.'
    },
    timeColumn: {
      ...timeColumn,
      title: 'Time key',
      description: 'The key of times (dates). Where there is one of that name with _ns at its end, the exact nanoseconds come from it.'
    },
    sensorColumn: { ...sensorColumn, title: 'Sensor key', description: 'The key of the sensors\' names or numbers.' },
    valueColumn: {
      ...valueColumn,
      title: 'Value key',
      description: 'The key of values. Those of that name with _int64, _string or _bytes at their end are read as well.'
    }
  }
}
