/**
 * The options of a reader that say which table it reads and what is where in it. A reader adds what its own database needs.
 * The columns' defaults are what the sinks create.
 */
export const tableProperties = {
  table: {
    type: 'string',
    title: 'Table',
    description: 'The table to read: what the sink\'s table became, with {source} filled in.',
    minLength: 1,
    default: 'measurements'
  },
  layout: {
    type: 'string',
    title: 'Layout',
    description: 'How the table holds samples. wide: a row per time, a column per sensor. narrow: a row per value, with columns for ' +
      'time, sensor and value. document: a row per interval, with a JSON document of its samples.',
    enum: /** @type {const} */ (['wide', 'narrow', 'document']),
    default: 'wide'
  },
  intervalMs: {
    type: 'integer',
    title: 'Interval',
    description: 'How long the time of one document is, as set in the sink; longer is harmless.',
    minimum: 1,
    maximum: 86_400_000,
    default: 1000,
    'x-unit': 'ms',
    'x-when': { layout: 'document' }
  },
  source: {
    type: 'string',
    title: 'Source',
    description: 'Of a table that several sources share: reads only this one. Empty reads all.',
    default: ''
  },
  timeColumn: {
    type: 'string',
    title: 'Time column',
    description: 'The column of times. Where there is one of that name with _ns at its end, the exact nanoseconds come from it.',
    minLength: 1,
    default: 'time',
    'x-advanced': true
  },
  sensorColumn: {
    type: 'string',
    title: 'Sensor column',
    description: 'The column of the sensors\' names or numbers.',
    minLength: 1,
    default: 'sensor',
    'x-when': { layout: 'narrow' },
    'x-advanced': true
  },
  valueColumn: {
    type: 'string',
    title: 'Value column',
    description: 'The column of values. Those of that name with _int64, _string or _bytes at their end are read as well.',
    minLength: 1,
    default: 'value',
    'x-when': { layout: 'narrow' },
    'x-advanced': true
  }
}

/**
 * @typedef {object} TableOptions
 * @property {string} table
 * @property {string} layout  those of the schema, or of a database's own
 * @property {number} intervalMs
 * @property {string} source
 * @property {string} timeColumn
 * @property {string} sensorColumn
 * @property {string} valueColumn
 */
