import { SluiceError } from '../../base/errors.js'
import { floor } from '../../batch/layouts.js'
import { formatTime } from '../../batch/time.js'
import { checkName } from '../names.js'
import { bytesText } from '../reading/values.js'

const INTEGERS = ['int', 'bigint']

/** Kinds of columns that hold a time, of any precision. */
export const TIMES = ['datetime', 'timestamp'].flatMap(kind => [kind, ...[1, 2, 3, 4, 5, 6].map(digits => `${kind}(${digits})`)])

/**
 * MySQL and MariaDB as the wide layout sees them. Columns' kinds are the data types of information_schema, `unsigned` where they are; a
 * time's with its precision.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'MySQL',
  maxNameBytes: 64,
  maxColumns: 1017,
  fold: name => name.toLowerCase(),
  timeColumns: [{ name: 'time', type: 'time', origin: 'time' }, { name: 'time_ns', type: 'time_ns', origin: 'time' }],
  ownNames: ['time', 'time_ns', 'source', 'sluice_row', 'db_row_id', 'db_trx_id', 'db_roll_ptr', 'fts_doc_id'],
  columnTypes: {
    time: 'DATETIME(6)', time_ns: 'BIGINT', float64: 'DOUBLE', float32: 'FLOAT', int64: 'BIGINT', int32: 'INT', int16: 'SMALLINT',
    uint16: 'SMALLINT UNSIGNED', bool: 'BOOLEAN', string: 'LONGTEXT', json: 'JSON', bytes: 'LONGBLOB'
  },
  accepts: {
    time: ['datetime(6)', 'timestamp(6)'],
    time_ns: ['bigint'],
    float64: ['double'],
    float32: ['float', 'double'],
    int64: ['bigint'],
    int32: [...INTEGERS, 'double'],
    int16: ['smallint', 'mediumint', ...INTEGERS, 'float', 'double'],
    uint16: ['smallint unsigned', 'mediumint', 'mediumint unsigned', 'int unsigned', 'bigint unsigned', ...INTEGERS, 'float', 'double'],
    bool: ['tinyint', 'tinyint unsigned', 'smallint', ...INTEGERS],
    string: ['varchar', 'tinytext', 'text', 'mediumtext', 'longtext'],
    json: ['json', 'longtext', 'mediumtext', 'text'],
    bytes: ['varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob']
  }
}

const NUMBERS = ['tinyint', 'smallint', 'smallint unsigned', 'mediumint', 'int', 'bigint', 'decimal', 'float', 'double']

/**
 * How tables of MySQL are read. Columns' kinds are data types, `unsigned` of a smallint alone.
 * @type {import('../sql/read-dialect.js').ReadDialect}
 */
export const readDialect = {
  quote,
  ownNames: ['time', 'time_ns', 'source', 'sluice_row'],
  missingTableFix: 'Check table and database',
  timeTypes: 'datetime, or of type bigint',
  isNanoseconds: kind => kind === 'bigint',
  timestamps: (column, { kind, isComputed }) => ['datetime', 'timestamp'].includes(kind)
    ? {
        nanoseconds: `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${column}) * 1000)`,
        within: isComputed
          ? null
          : ({ from, to }, add) => {
              const ends = [from, to].map(ns => `CAST(${add(microseconds(ns), 'text')} AS DATETIME(6))`)
              return `${column} >= ${ends[0]} AND ${column} <= ${ends[1]}`
            }
      }
    : null,
  // As bytes, which are compared exactly: texts may ignore case, accents and spaces.
  sensor: column => `CAST(CONVERT(${column} USING utf8mb4) AS BINARY)`,
  number: (column, kind) => NUMBERS.includes(kind) ? column : null,
  double: number => `(${number} + 0e0)`,
  stddev: 'STDDEV_SAMP',
  parameter (value, type, values) {
    values.push(type === 'int64' ? String(value) : type === 'sensor' ? Buffer.from(value) : value)
    return type === 'int64' ? 'CAST(? AS SIGNED)' : '?'
  },
  // The driver returns decimals, and whole numbers that are not safe, as text.
  valueOf (kind) {
    switch (kind) {
      case 'bigint': return value => typeof value === 'string' ? BigInt(value) : value
      case 'decimal': return Number
      default: return value => value instanceof Uint8Array ? bytesText(value) : value
    }
  }
}

/** An SQL identifier. @param {string} name */
export function quote (name) {
  return `\`${name.replaceAll('`', '``')}\``
}

/** A text in SQL, whatever the session takes for an escape. @param {string} value */
export function textLiteral (value) {
  return `_utf8mb4 X'${Buffer.from(value).toString('hex')}'`
}

/**
 * The name itself, if the database can have it.
 * @param {string} name
 * @param {'table'|'column'} what
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER
 */
export function checkIdentifier (name, what) {
  checkName(name, what, dialect)
  const wrong = /[\t-\r ]$/.test(name) ? 'ends with white space' : /[\u{10000}-\u{10ffff}]/u.test(name) && 'has a character beyond U+FFFF'
  if (!wrong) return name
  throw new SluiceError('SLUICE_SINK_IDENTIFIER', `The ${what} name "${name}" ${wrong}, which ${dialect.product} does not allow.`, {
    fix: what === 'table' ? 'Rename the source, or set another table.' : 'Rename the field or tag.'
  })
}

/** @param {bigint} ns */
function microseconds (ns) {
  return formatTime(floor(ns, 1000n)).replace('000Z', '').replace('T', ' ')
}
