import { SluiceError } from '../base/errors.js'

/**
 * What the columns of a table hold.
 *
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {import('../databases/reader.js').TableColumn} TableColumn
 */

/** What each database calls its types. A column of another type cannot be copied. @type {Record<string, Record<string, FieldType>>} */
const TYPES = {
  sqlite: { INTEGER: 'int64', REAL: 'float64', BOOLEAN: 'bool', TEXT: 'string', BLOB: 'bytes' },
  duckdb: {
    DOUBLE: 'float64', FLOAT: 'float32', BIGINT: 'int64', INTEGER: 'int32', SMALLINT: 'int16', USMALLINT: 'uint16', BOOLEAN: 'bool',
    VARCHAR: 'string', BLOB: 'bytes'
  },
  postgresql: {
    float8: 'float64', float4: 'float32', int8: 'int64', int4: 'int32', int2: 'int16', bool: 'bool', text: 'string', varchar: 'string',
    bytea: 'bytes'
  },
  mysql: {
    double: 'float64', float: 'float32', bigint: 'int64', int: 'int32', smallint: 'int16', 'smallint unsigned': 'uint16', tinyint: 'bool',
    longtext: 'string', mediumtext: 'string', text: 'string', varchar: 'string', longblob: 'bytes', mediumblob: 'bytes', blob: 'bytes'
  },
  clickhouse: {
    Float64: 'float64', Float32: 'float32', Int64: 'int64', Int32: 'int32', Int16: 'int16', UInt16: 'uint16', Bool: 'bool', UInt8: 'bool',
    String: 'string'
  }
}

/**
 * What a column's values are.
 * @param {string} database  its type
 * @param {TableColumn} column
 * @returns {FieldType}
 * @throws {SluiceError} SLUICE_COPY_COLUMN
 */
export function typeOf (database, { name, kind }) {
  const type = TYPES[database][kind]
  if (type) return type
  throw new SluiceError('SLUICE_COPY_COLUMN', `The column "${name}" is of type ${kind}, which cannot be copied.`, {
    fix: 'Leave it out with --without, or change its type.'
  })
}

/** The columns of a narrow table's values. @type {Record<string, FieldType>} */
export const VALUES = { value: 'float64', value_int64: 'int64', value_string: 'string', value_bytes: 'bytes' }

/**
 * The types of those columns that hold numbers.
 * @param {string} database  its type
 * @param {TableColumn[]} columns
 * @returns {Map<string, FieldType>}
 */
export function numberTypes (database, columns) {
  const types = columns.map(({ name, kind }) => /** @type {const} */ ([name, TYPES[database]?.[kind]]))
  return new Map(types.filter(([, type]) => HOLDS[type] ?? type === 'float64'))
}

/** Where a value must not be rounded, the next that may hold it. @type {Partial<Record<FieldType, FieldType>>} */
const WIDER = { bool: 'int16', int16: 'uint16', uint16: 'int32', int32: 'int64', int64: 'float64', float32: 'float64' }

const isWhole = (/** @type {any} */ value) => typeof value === 'bigint' || Number.isInteger(Number(value))

/** @type {Partial<Record<FieldType, (value: any) => boolean>>} */
const HOLDS = {
  bool: value => typeof value === 'boolean' || Number(value) === 0 || Number(value) === 1,
  int16: value => isWhole(value) && value >= -32768 && value <= 32767,
  uint16: value => isWhole(value) && value >= 0 && value <= 65535,
  int32: value => isWhole(value) && value >= -2147483648 && value <= 2147483647,
  int64: isWhole,
  float32: value => Number.isNaN(value) || Math.fround(Number(value)) === Number(value)
}

/** The first type from this one on that holds all values exactly. @param {FieldType} type @param {unknown[]} values @returns {FieldType} */
export function typeFor (type, values) {
  const isBeyond = type === 'float64' && values.some(value => typeof value === 'bigint') // where a number is not exact
  if (isBeyond && values.every(value => value === null || isWhole(value))) return 'int64'
  const holds = HOLDS[type]
  if (!holds || values.every(value => value === null || holds(value))) return type
  return typeFor(/** @type {FieldType} */ (WIDER[type]), values)
}
