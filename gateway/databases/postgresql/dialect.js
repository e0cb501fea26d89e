/**
 * PostgreSQL as the wide layout sees it. Columns' kinds are the names of types in pg_type.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'PostgreSQL',
  maxNameBytes: 63,
  maxColumns: 1600,
  fold: name => name,
  timeColumns: [{ name: 'time', type: 'time', origin: 'time' }, { name: 'time_ns', type: 'time_ns', origin: 'time' }],
  ownNames: ['time', 'time_ns', 'source', 'tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
  columnTypes: {
    time: 'timestamptz', time_ns: 'int8', float64: 'float8', float32: 'float4', int64: 'int8', int32: 'int4', int16: 'int2', uint16: 'int4', bool: 'bool', string: 'text', json: 'jsonb', bytes: 'bytea'
  },
  accepts: {
    time: ['timestamptz'],
    time_ns: ['int8'],
    float64: ['float8'],
    float32: ['float4', 'float8'],
    int64: ['int8'],
    int32: ['int4', 'int8', 'float8'],
    int16: ['int2', 'int4', 'int8', 'float8'],
    uint16: ['int4', 'int8', 'float8'],
    bool: ['bool'],
    string: ['text', 'varchar'],
    json: ['jsonb', 'json', 'text'],
    bytes: ['bytea']
  }
}
