import { bytesText, whole } from '../reading/values.js'
import { fileDialect, fileReadDialect } from '../sql/file-dialect.js'

const INTEGERS = ['INTEGER', 'NUMERIC']

/**
 * SQLite as the wide layout sees it. Columns' kinds are affinities.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  ...fileDialect,
  product: 'SQLite',
  columnTypes: {
    time: 'INTEGER', time_ns: 'INTEGER', float64: 'REAL', float32: 'REAL', int64: 'INTEGER', int32: 'INTEGER', int16: 'INTEGER',
    uint16: 'INTEGER', bool: 'BOOLEAN', string: 'TEXT', json: 'TEXT', bytes: 'BLOB'
  },
  accepts: {
    time: INTEGERS,
    time_ns: INTEGERS,
    float64: ['REAL'],
    float32: ['REAL'],
    int64: INTEGERS,
    int32: [...INTEGERS, 'REAL'],
    int16: [...INTEGERS, 'REAL'],
    uint16: [...INTEGERS, 'REAL'],
    bool: INTEGERS,
    string: ['TEXT'],
    json: ['TEXT'],
    bytes: ['BLOB']
  }
}

/**
 * How SQLite's tables are read. Summaries are computed from the samples: SQLite's own way, in the same thread, takes as long and cannot be
 * interrupted.
 * @type {import('../sql/read-dialect.js').ReadDialect}
 */
export const readDialect = {
  ...fileReadDialect,
  timeTypes: 'INTEGER',
  isNanoseconds: () => true,
  timestamps: () => null,
  sensor: column => column,
  number: column => `CASE WHEN typeof(${column}) IN ('integer', 'real') THEN ${column} END`,
  double: number => number,
  parameter: (value, _type, values) => `?${values.push(value)}`,
  valueOf: kind => value => {
    if (typeof value === 'bigint') return kind === 'BOOLEAN' ? value !== 0n : whole(value)
    return value instanceof Uint8Array ? bytesText(value) : value
  }
}
