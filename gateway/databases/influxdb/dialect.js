/**
 * InfluxDB as the wide layout sees it: a measurement is a table, and its fields are columns, whose kinds are the types that SHOW FIELD KEYS
 * lists. What is not a field is a tag, which has no type.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'InfluxDB',
  // A point's measurement, tags and field may have 65,535 bytes together.
  maxNameBytes: 1000,
  maxColumns: Infinity,
  fold: name => name,
  timeColumns: [],
  ownNames: ['time', 'source', 'gateway', 'row', '_measurement', '_field'],
  columnTypes: {
    time: 'integer',
    time_ns: 'integer',
    float64: 'float',
    float32: 'float',
    int64: 'integer',
    int32: 'integer',
    int16: 'integer',
    uint16: 'integer',
    bool: 'boolean',
    string: 'string',
    json: 'string',
    bytes: 'string'
  },
  accepts: {
    time: ['integer'],
    time_ns: ['integer'],
    float64: ['float'],
    float32: ['float'],
    int64: ['integer'],
    int32: ['integer', 'float'],
    int16: ['integer', 'float'],
    uint16: ['integer', 'float'],
    bool: ['boolean'],
    string: ['string'],
    json: ['string'],
    bytes: ['string']
  }
}

/** The narrow layout has one more tag. @type {typeof dialect} */
export const narrowDialect = { ...dialect, ownNames: [...dialect.ownNames, 'sensor'] }
