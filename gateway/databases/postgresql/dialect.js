import { floor } from '../../batch/layouts.js'
import { formatTime } from '../../batch/time.js'
import { quote } from '../names.js'
import { bytesText } from '../reading/values.js'

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
    time: 'timestamptz', time_ns: 'int8', float64: 'float8', float32: 'float4', int64: 'int8', int32: 'int4', int16: 'int2', uint16: 'int4',
    bool: 'bool', string: 'text', json: 'jsonb', bytes: 'bytea'
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

const TYPES = { int64: 'int8', float64: 'float8', text: 'text', sensor: 'text' }

/** How PostgreSQL's tables are read. @type {import('../sql/read-dialect.js').ReadDialect} */
export const readDialect = {
  quote,
  ownNames: ['time', 'time_ns', 'source'],
  missingTableFix: 'Check table and schema',
  timeTypes: 'timestamptz, or of type bigint',
  refusesNul: true,
  isNanoseconds: kind => kind === 'int8',
  timestamps: (column, { kind }) => ['timestamptz', 'timestamp'].includes(kind)
    ? {
        nanoseconds: `(extract(epoch FROM ${column}) * 1000000)::int8 * 1000`,
        within ({ from, to }) {
          const ends = [from, to].map(ns => `'${microseconds(ns)}'::${kind}`)
          return `${column} >= ${ends[0]} AND ${column} <= ${ends[1]}`
        }
      }
    : null,
  sensor: (column, kind) => kind === 'text' ? column : `${column}::text`,
  number (column, kind) {
    if (['int2', 'int4', 'int8', 'numeric'].includes(kind)) return column
    if (['float4', 'float8'].includes(kind)) return `nullif(${column}, 'NaN')`
    return kind === 'bool' ? `${column}::int4` : null
  },
  double: number => `(${number})::float8`,
  stddev: 'stddev_samp',
  parameter: (value, type, values) => `$${values.push(value)}::${TYPES[type]}`,
  valueOf: () => value => value instanceof Uint8Array ? bytesText(value) : value
}

/** As text that PostgreSQL does not round. @param {bigint} ns */
export function microseconds (ns) {
  return formatTime(floor(ns, 1000n)).replace('000Z', 'Z')
}
