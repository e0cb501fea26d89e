/**
 * SAP HANA as the wide layout sees it. Columns' kinds are the data types of SYS.TABLE_COLUMNS.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'SAP HANA',
  maxNameBytes: 127,
  maxColumns: 1000,
  fold: name => name,
  timeColumns: [{ name: 'time', type: 'time', origin: 'time' }, { name: 'time_ns', type: 'time_ns', origin: 'time' }],
  ownNames: ['time', 'time_ns', 'source'],
  columnTypes: {
    time: 'TIMESTAMP', time_ns: 'BIGINT', float64: 'DOUBLE', float32: 'REAL', int64: 'BIGINT', int32: 'INTEGER', int16: 'SMALLINT',
    uint16: 'INTEGER', bool: 'BOOLEAN', string: 'NVARCHAR(5000)', json: 'NVARCHAR(5000)', bytes: 'VARBINARY(5000)'
  },
  accepts: {
    time: ['TIMESTAMP'],
    time_ns: ['BIGINT'],
    float64: ['DOUBLE'],
    float32: ['REAL', 'DOUBLE'],
    int64: ['BIGINT'],
    int32: ['INTEGER', 'BIGINT', 'DOUBLE'],
    int16: ['SMALLINT', 'INTEGER', 'BIGINT', 'REAL', 'DOUBLE'],
    uint16: ['INTEGER', 'BIGINT', 'REAL', 'DOUBLE'],
    bool: ['BOOLEAN'],
    string: ['NVARCHAR'],
    json: ['NVARCHAR'],
    bytes: ['VARBINARY']
  }
}
