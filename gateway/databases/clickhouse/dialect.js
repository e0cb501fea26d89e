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
 * @property {string} deduplicating  settings of a table that knows an insert sent again by its token; likewise
 *
 * @typedef {import('../wide.js').Dialect & import('../names.js').NameRules & Server} ClickhouseDialect
 */

/** The first version of the year that has all of them. */
const MODERN = [22, 3]

/** Which batch a row is of: a number made from gateway, source and epoch (0: of none), and the batch's seq. */
export const EPOCH_COLUMN = 'sluice_epoch'
export const SEQ_COLUMN = 'sluice_seq'

/** @type {WideColumn[]} */
export const identityColumns = [
  { name: EPOCH_COLUMN, type: 'int64', origin: 'source' },
  { name: SEQ_COLUMN, type: 'int64', origin: 'source' }
]

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
  bytes: TEXTS
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
  ownNames: ['time', 'time_ns', 'source', EPOCH_COLUMN, SEQ_COLUMN]
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
  bytes: 'Nullable(String)'
}

/**
 * @param {string} version  as the server tells it
 * @param {boolean} canBeStrict  whether it can be told not to convert what does not have a column's type
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

/** @param {string[]} types */
function orNull (...types) {
  return types.flatMap(type => [`Nullable(${type})`, type])
}
