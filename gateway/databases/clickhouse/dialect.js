import { bytesText, whole } from '../reading/values.js'
import { identifier, literal } from './quote.js'

/**
 * ClickHouse as the wide layout sees it. Columns' kinds are ClickHouse's own names of types, but for DateTime64(9), whose time zone does
 * not matter.
 *
 * @typedef {import('../wide.js').ValueType} ValueType
 * @typedef {import('../wide.js').WideColumn} WideColumn
 *
 * @typedef {object} Server  what there is to know of a server
 * @property {string} version
 * @property {boolean} plain  too old for all that has come since: DateTime64, Bool, LowCardinality, indexes that skip, settings of tables
 * @property {Record<string, string>} insertSettings
 * @property {string} timeCodec  of a table's column time, for its declaration
 * @property {string} durable  settings of a table whose inserts survive a loss of power, too; empty where there are none
 * @property {string} deduplicating  settings of a table that recognises a repeated insert by its token; likewise
 *
 * @typedef {import('../wide.js').Dialect & import('../names.js').NameRules & Server} ClickhouseDialect
 */

/** The first version of the year that has all of them. */
const MODERN = [22, 3]

/**
 * Which batch a row is of: a number derived from gateway, source and epoch (0: of none), and the batch's seq. What else its commit record
 * has is in the first row of the batch; in the others, the list is empty. A server reads lists faster than texts: only their ends differ.
 */
export const EPOCH_COLUMN = 'sluice_epoch'
export const SEQ_COLUMN = 'sluice_seq'
export const BATCH_COLUMN = 'sluice_batch'

/** @type {WideColumn[]} */
export const identityColumns = [
  { name: EPOCH_COLUMN, type: 'int64', origin: 'source' },
  { name: SEQ_COLUMN, type: 'int64', origin: 'source' },
  { name: BATCH_COLUMN, type: /** @type {any} */ ('numbers'), origin: 'source' }
]

const IDENTITY_NAMES = identityColumns.map(({ name }) => name)

/** The type of that list, which no field has. */
const NUMBERS = 'Array(Int64)'

const TEXTS = ['Nullable(String)', 'String', 'LowCardinality(Nullable(String))', 'LowCardinality(String)']

/** @type {import('../wide.js').Dialect['accepts']} */
const accepts = {
  time: ['DateTime64(9)'],
  time_ns: ['Int64'],
  float64: orNull('Float64'),
  float32: orNull('Float32', 'Float64'),
  int64: orNull('Int64'),
  int32: orNull('Int32', 'Int64', 'Float64'),
  int16: orNull('Int16', 'Int32', 'Int64', 'Float64'),
  uint16: orNull('UInt16', 'Int32', 'Int64', 'Float64'),
  bool: orNull('Bool', 'UInt8'),
  string: TEXTS,
  json: TEXTS,
  bytes: TEXTS,
  .../** @type {object} */ ({ numbers: [NUMBERS] })
}

/** One insert is one block is one part: stored as a whole, or not. */
const ONE_BLOCK = { min_insert_block_size_rows: '0', min_insert_block_size_bytes: '0', max_insert_block_size: '1000000000' }

/** @type {import('../names.js').NameRules} */
export const nameRules = {
  product: 'ClickHouse',
  // Names become names of files, of 255 bytes, in which any but ASCII letters and digits take three.
  maxNameBytes: 80,
  fold: name => name
}

const common = {
  ...nameRules,
  // Each column of a table is some files of each part.
  maxColumns: 10_000,
  ownNames: ['time', 'time_ns', 'source', ...IDENTITY_NAMES]
}

/** @type {Record<ValueType, string>} */
const nullable = {
  time: 'DateTime64(9, \'UTC\')',
  time_ns: 'Int64',
  float64: 'Nullable(Float64)',
  float32: 'Nullable(Float32)',
  int64: 'Nullable(Int64)',
  int32: 'Nullable(Int32)',
  int16: 'Nullable(Int16)',
  uint16: 'Nullable(UInt16)',
  bool: 'Nullable(Bool)',
  string: 'Nullable(String)',
  json: 'Nullable(String)',
  bytes: 'Nullable(String)',
  .../** @type {object} */ ({ numbers: NUMBERS })
}

/**
 * @param {string} version  as the server reports it
 * @param {boolean} canBeStrict  whether it can be set not to convert what does not have a column's type
 * @returns {ClickhouseDialect}
 */
export function dialectOf (version, canBeStrict) {
  const [year, month] = version.split('.').map(Number)
  const plain = year < MODERN[0] || (year === MODERN[0] && month < MODERN[1])
  if (plain) {
    return {
      ...common,
      version,
      plain,
      timeColumns: [{ name: 'time', type: 'time', origin: 'time' }, { name: 'time_ns', type: 'time_ns', origin: 'time' }],
      columnTypes: { ...nullable, time: 'DateTime', bool: 'Nullable(UInt8)' },
      accepts: { ...accepts, time: ['DateTime'] },
      insertSettings: ONE_BLOCK,
      timeCodec: '',
      durable: '',
      deduplicating: ''
    }
  }
  return {
    ...common,
    version,
    plain,
    timeColumns: [{ name: 'time', type: 'time', origin: 'time' }],
    columnTypes: nullable,
    accepts,
    insertSettings: { ...ONE_BLOCK, async_insert: '0', ...canBeStrict && { input_format_native_allow_types_conversion: '0' } },
    timeCodec: ' CODEC(Delta, LZ4)',
    durable: 'fsync_after_insert = 1, fsync_part_directory = 1',
    deduplicating: 'non_replicated_deduplication_window = 100'
  }
}

/** A time as the column `time` holds it. @param {bigint} ns @param {boolean} plain */
export function timeLiteral (ns, plain) {
  return plain ? dateTime(ns) : time64(ns)
}

/** @param {string[]} types */
function orNull (...types) {
  return types.flatMap(type => [`Nullable(${type})`, type])
}

const LAST_SECOND = 2n ** 32n - 1n
const SECOND = 1_000_000_000n

/**
 * How tables of ClickHouse are read, whose old servers know no parameters. Columns' kinds are types without what says that they may be NULL
 * or how they are stored (see `plainType`).
 * @type {import('../sql/read-dialect.js').ReadDialect}
 */
export const readDialect = {
  quote: identifier,
  ownNames: ['time', 'time_ns', 'source', ...IDENTITY_NAMES],
  missingTableFix: 'Check table and database',
  timeTypes: 'DateTime64 or DateTime, or of type Int64',
  isNanoseconds: kind => kind === 'Int64',
  timestamps (column, { kind }) {
    const [, type, digits] = /^(DateTime64|DateTime)(?:\((\d)?)?/.exec(kind) ?? []
    if (type === 'DateTime') {
      return {
        nanoseconds: `(toInt64(toUnixTimestamp(${column})) * ${SECOND})`,
        within: ({ from, to }) => `${column} >= ${dateTime(from)} AND ${column} <= ${dateTime(to)}`
      }
    }
    if (type !== 'DateTime64') return null
    if (digits !== '9') return { nanoseconds: `toUnixTimestamp64Nano(CAST(${column} AS DateTime64(9, 'UTC')))`, within: null }
    return {
      nanoseconds: `toUnixTimestamp64Nano(${column})`,
      within: ({ from, to }) => `${column} >= ${time64(from)} AND ${column} < ${time64(to)}`,
      isExact: true
    }
  },
  sensor: (column, kind) => kind === 'String' ? column : `toString(${column})`,
  number (column, kind) {
    if (kind.startsWith('Float')) return `if(isNaN(${column}), NULL, ${column})`
    if (/^(U?Int|Decimal)/.test(kind)) return column
    return kind === 'Bool' ? `toUInt8(${column})` : null
  },
  firstOf: numbers => numbers.map(each => `toFloat64(${each})`).reduceRight((rest, each) => `if(isNull(${each}), ${rest}, ${each})`),
  double: number => `toFloat64(${number})`,
  stddev: 'stddevSampStable',
  parameter (value, type) {
    if (type === 'int64') return int64(value)
    return type === 'float64' ? `toFloat64(${literal(String(value).replace('Infinity', 'inf').replace('NaN', 'nan'))})` : literal(value)
  },
  cell: (column, isBytes) => isBytes ? `hex(${column})` : column,
  valueOf (kind, isBytes) {
    if (/^U?Int(8|16|32)$/.test(kind)) return Number
    if (/^U?Int/.test(kind)) return cell => whole(BigInt(cell))
    if (kind === 'Float32') return cell => Math.fround(floatOf(cell))
    if (kind === 'Float64' || kind.startsWith('Decimal')) return floatOf
    if (kind === 'Bool') return cell => cell === 'true'
    return isBytes ? cell => bytesText(Buffer.from(cell, 'hex')) : cell => cell
  },
  statistic: floatOf
}

/** A type as it is read. @param {string} type */
export function plainType (type) {
  const [, inner = type] = /^LowCardinality\((.*)\)$/.exec(type) ?? []
  const [, innermost = inner] = /^Nullable\((.*)\)$/.exec(inner) ?? []
  return innermost
}

/** @param {bigint} value */
function int64 (value) {
  return `toInt64(${value})`
}

/** @param {bigint} ns */
function time64 (ns) {
  return `fromUnixTimestamp64Nano(${int64(ns)}, 'UTC')`
}

/** The second, or the nearest that there is. @param {bigint} ns */
function dateTime (ns) {
  const second = ns / SECOND - (ns % SECOND < 0n ? 1n : 0n)
  return `toDateTime(${second < 0n ? 0n : second > LAST_SECOND ? LAST_SECOND : second})`
}

/** @param {string} cell */
function floatOf (cell) {
  return Number(cell.replace('inf', 'Infinity'))
}
