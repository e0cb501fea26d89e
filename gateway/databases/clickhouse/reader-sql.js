import { SluiceError } from '../../base/errors.js'
import { whole } from '../reading/values.js'
import { MEASUREMENTS } from '../../batch/layouts.js'
import { EPOCH_COLUMN, SEQ_COLUMN } from './dialect.js'
import { identifier, literal } from './quote.js'

/**
 * The statements of the ClickHouse reader. Names of sensors become identifiers only where the table has such a column; all texts are
 * quoted.
 *
 * @typedef {import('../reading/table.js').TableOptions} TableOptions
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {{from: bigint, to: bigint}} Times
 */

/** Columns of a wide table that hold no sensor. */
const OWN = ['time', 'time_ns', 'source', EPOCH_COLUMN, SEQ_COLUMN]

const LAST_SECOND = 2n ** 32n - 1n
const SECOND = 1_000_000_000n

/** @type {Record<Statistic, (number: string) => string>} */
const AGGREGATES = {
  count: number => `count(${number})`,
  mean: number => `avg(toFloat64(${number}))`,
  min: number => `min(toFloat64(${number}))`,
  max: number => `max(toFloat64(${number}))`,
  stddev: number => `stddevSampStable(toFloat64(${number}))`
}

/** A table as it is, and what to ask of it. */
export class ReadTable {
  #options
  /** types by column, without what says that they may be NULL or how they are stored @type {Map<string, string>} */
  #kinds
  #name
  /** the time in nanoseconds */
  #exact
  /** what the table is sorted by, and how a range of it is told */
  #order
  /** @type {(times: Times) => string} */
  #within

  /**
   * @param {TableOptions} options
   * @param {[string, string][]} columns  names and types
   * @throws {SluiceError} SLUICE_QUERY_TABLE
   */
  constructor (options, columns) {
    const { layout, source, timeColumn, sensorColumn, valueColumn, intervalMs } = options
    this.#options = options
    this.#kinds = new Map(columns.map(([name, type]) => [name, plainType(type)]))
    this.#name = identifier(options.table)
    if (columns.length === 0) throw new SluiceError('SLUICE_QUERY_TABLE', `There is no table ${this.#name}.`, { fix: 'Check table and database; the sink makes it with its first batch.' })

    const kind = this.#kinds.get(timeColumn) ?? ''
    const column = identifier(timeColumn)
    const exact = [`${timeColumn}_ns`, timeColumn].find(name => this.#kinds.get(name) === 'Int64')
    const [, type, digits] = /^(DateTime64|DateTime)(?:\((\d)?)?/.exec(kind) ?? []
    if (exact === undefined && type === undefined) {
      if (!this.#kinds.has(timeColumn)) throw this.#missing(timeColumn, 'Set the time column.')
      throw new SluiceError('SLUICE_QUERY_TABLE', `The column ${column} of ${this.#name} is of type ${kind}.`, { fix: 'Set a time column of type DateTime64 or DateTime, or of type Int64 with nanoseconds since 1970.' })
    }
    this.#exact = exact !== undefined
      ? identifier(exact)
      : type === 'DateTime64'
        ? `toUnixTimestamp64Nano(${digits === '9' ? column : `CAST(${column} AS DateTime64(9, 'UTC'))`})`
        : `(toInt64(toUnixTimestamp(${column})) * ${SECOND})`
    this.#order = type === undefined ? this.#exact : type === 'DateTime' && exact !== undefined ? [column, this.#exact] : column
    this.#within = ({ from, to }) => {
      const ends = `${this.#exact} >= ${int64(from)} AND ${this.#exact} < ${int64(to)}`
      if (type === 'DateTime64' && exact === undefined && digits === '9') return `${column} >= ${time64(from)} AND ${column} < ${time64(to)}`
      return type === 'DateTime' ? `${column} >= ${dateTime(from)} AND ${column} <= ${dateTime(to)} AND ${ends}` : ends
    }

    this.intervalNs = BigInt(intervalMs) * 1_000_000n
    this.isNarrow = layout === 'narrow'
    this.valueColumns = this.isNarrow ? ['', '_int64', '_string', '_bytes'].map(ending => valueColumn + ending).filter(name => this.#kinds.has(name)) : []
    if (source !== '' && !this.#kinds.has('source')) throw this.#missing('source', 'Leave the source empty.')
    if (this.isNarrow && !this.#kinds.has(sensorColumn)) throw this.#missing(sensorColumn, 'Set the sensor column, or another layout.')
    if (this.isNarrow && this.valueColumns.length === 0) throw this.#missing(valueColumn, 'Set the value column, or another layout.')
    if (layout === 'document' && !this.#kinds.has(MEASUREMENTS)) throw this.#missing(MEASUREMENTS, 'Set another layout.')
  }

  /** @param {string} sensor */
  has (sensor) {
    if (this.isNarrow) return true
    return this.#kinds.has(sensor) && !OWN.includes(sensor) && sensor !== this.#options.timeColumn && sensor !== `${this.#options.timeColumn}_ns`
  }

  /** What makes a sample's value of a cell of a column. @param {string} column @returns {(cell: string) => Sample['value']} */
  valueOf (column) {
    const kind = this.#kinds.get(column) ?? ''
    if (/^U?Int(8|16|32)$/.test(kind)) return Number
    if (/^U?Int/.test(kind)) return cell => whole(BigInt(cell))
    if (kind === 'Float32') return cell => Math.fround(floatOf(cell))
    if (kind === 'Float64' || kind.startsWith('Decimal')) return floatOf
    if (kind === 'Bool') return cell => cell === 'true'
    return column === `${this.#options.valueColumn}_bytes` ? cell => Buffer.from(cell, 'hex').toString('base64') : cell => cell
  }

  /**
   * Rows of time, then in the narrow layout sensor and value columns, else the value of each sensor.
   * @param {string[]} sensors
   * @param {Times} range
   */
  samples (sensors, range) {
    const columns = this.isNarrow ? [this.#sensor, ...this.valueColumns.map(name => this.#read(name))] : sensors.map(sensor => identifier(sensor))
    const there = this.isNarrow ? this.#oneOf(sensors) : columns.map(column => `${column} IS NOT NULL`).join(' OR ')
    return this.#statement([this.#exact, ...columns], `${this.#where(range)} AND (${there}) ORDER BY ${this.#sorted('')}`)
  }

  /** Rows of an interval's start and its document. @param {Times} range */
  documents (range) {
    return this.#statement([this.#exact, identifier(MEASUREMENTS)], `${this.#where(range)} ORDER BY ${this.#sorted('')}`)
  }

  /**
   * Rows of bucket, then in the narrow layout the sensor, then the statistics, of each sensor in the others.
   * @param {string[]} sensors
   * @param {Times & {bucketNs?: bigint}} range
   * @param {Statistic[]} statistics
   */
  summaries (sensors, { bucketNs, ...range }, statistics) {
    const of = (/** @type {string} */ value) => statistics.map(name => AGGREGATES[name](value))
    const length = bucketNs === undefined ? '' : int64(bucketNs)
    const bucket = length ? `${this.#exact} - ((${this.#exact} % ${length}) + ${length}) % ${length}` : int64(range.from)
    const columns = this.isNarrow ? [`${this.#sensor} AS summarised`, ...of(this.#number())] : sensors.flatMap(sensor => of(this.#number(sensor)))
    return this.#statement([`${bucket} AS bucket`, ...columns], `${this.#where(range)}${this.isNarrow ? ` AND ${this.#oneOf(sensors)}` : ''} GROUP BY bucket${this.isNarrow ? ', summarised' : ''}`)
  }

  /** @param {Times & {sensor: string, above?: number, below?: number, last?: boolean}} range */
  edge ({ sensor, above, below, last = false, ...range }) {
    const value = this.#number(sensor)
    const over = [
      ...(above === undefined ? [] : [`${value} > ${float64(above)}`]),
      ...(below === undefined ? [] : [`${value} < ${float64(below)}`])
    ].join(' OR ') || '0'
    return this.#statement([this.#exact], `${this.#where(range)}${this.#only(sensor)} AND (${over}) ORDER BY ${this.#sorted(last ? ' DESC' : '')} LIMIT 1`)
  }

  /** @param {Times & {sensor: string}} range */
  minimum ({ sensor, ...range }) {
    const value = this.#number(sensor)
    return this.#statement([this.#exact], `${this.#where(range)}${this.#only(sensor)} AND ${value} IS NOT NULL ORDER BY ${value}, ${this.#sorted('')} LIMIT 1`)
  }

  /** Sensors may be numbers. */
  get #sensor () {
    const { sensorColumn } = this.#options
    return this.#kinds.get(sensorColumn) === 'String' ? identifier(sensorColumn) : `toString(${identifier(sensorColumn)})`
  }

  /** @param {string[]} sensors */
  #oneOf (sensors) {
    return `${this.#sensor} IN (${sensors.map(literal).join(', ')})`
  }

  /** Bytes need not be text. @param {string} column */
  #read (column) {
    return column === `${this.#options.valueColumn}_bytes` ? `hex(${identifier(column)})` : identifier(column)
  }

  /** A sensor's value as a number; NULL where it is none. @param {string} [sensor]  in the wide layout */
  #number (sensor) {
    const numbers = (this.isNarrow ? this.valueColumns : [String(sensor)]).flatMap(name => {
      const kind = this.#kinds.get(name) ?? ''
      const column = identifier(name)
      if (kind.startsWith('Float')) return [`if(isNaN(${column}), NULL, ${column})`]
      if (/^(U?Int|Decimal)/.test(kind)) return [column]
      return kind === 'Bool' ? [`toUInt8(${column})`] : []
    })
    if (numbers.length < 2) return numbers[0] ?? 'CAST(NULL AS Nullable(Float64))'
    return numbers.map(each => `toFloat64(${each})`).reduceRight((rest, each) => `if(isNull(${each}), ${rest}, ${each})`)
  }

  /** @param {string} sensor */
  #only (sensor) {
    return this.isNarrow ? ` AND ${this.#sensor} = ${literal(sensor)}` : ''
  }

  /** @param {string} way */
  #sorted (way) {
    return [this.#order].flat().map(each => each + way).join(', ')
  }

  /** @param {Times} times */
  #where (times) {
    const { source } = this.#options
    return this.#within(times) + (source === '' ? '' : ` AND source = ${literal(source)}`)
  }

  /** @param {string[]} columns @param {string} where */
  #statement (columns, where) {
    return `SELECT ${columns.join(', ')} FROM ${this.#name} WHERE ${where}`
  }

  /** @param {string} column @param {string} fix */
  #missing (column, fix) {
    return new SluiceError('SLUICE_QUERY_TABLE', `The table ${this.#name} has no column ${identifier(column)}.`, { fix })
  }
}

/** @param {string} type */
function plainType (type) {
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

/** @param {number} value */
function float64 (value) {
  return `toFloat64(${literal(Number.isNaN(value) ? 'nan' : String(value).replace('Infinity', 'inf'))})`
}

/** @param {string} cell */
function floatOf (cell) {
  return Number(cell.replace('inf', 'Infinity'))
}
