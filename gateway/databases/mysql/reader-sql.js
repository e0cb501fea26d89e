import { SluiceError } from '../../base/errors.js'
import { formatTime } from '../../batch/time.js'
import { bytesText } from '../reading/values.js'
import { floor, MEASUREMENTS } from '../../batch/layouts.js'
import { quote } from './dialect.js'

/**
 * The statements of the MySQL reader. Names of sensors become identifiers only where the table has such a column; all else is a parameter.
 *
 * @typedef {import('../reading/table.js').TableOptions} TableOptions
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {{sql: string, values: (string|number|Buffer)[]}} Statement
 * @typedef {{tableName: string, name: string, kind: string, generated: string}} Column
 */

/** The columns of a table's or view's name; the server's comparison may ignore case. */
export const READ_COLUMNS = `
  SELECT TABLE_NAME AS tableName, COLUMN_NAME AS name, DATA_TYPE AS kind, COALESCE(GENERATION_EXPRESSION, '') AS \`generated\`
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`

/** Columns of a wide table that hold no sensor. */
const OWN = ['time', 'time_ns', 'source', 'sluice_row']

const NUMBERS = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'float', 'double']
const TIMESTAMPS = ['datetime', 'timestamp']

/** As a double, which is what is computed with. @param {string} number */
const double = number => `(${number} + 0e0)`

/** @type {Record<Statistic, (number: string) => string>} */
const AGGREGATES = {
  count: number => `COUNT(${number})`,
  mean: number => `AVG(${double(number)})`,
  min: number => `MIN(${double(number)})`,
  max: number => `MAX(${double(number)})`,
  stddev: number => `STDDEV_SAMP(${double(number)})`
}

/** A parameter that is a whole number of 64 bits. */
const WHOLE = 'CAST(? AS SIGNED)'

/** A table as it is, and what to ask of it. */
export class ReadTable {
  #options
  /** types by column @type {Map<string, string>} */
  #kinds
  #name
  /** the time in nanoseconds */
  #exact
  /** what an index may be on, where that is another column */
  #coarse

  /**
   * @param {TableOptions} options
   * @param {Column[]} found  also of tables whose names differ by case
   * @throws {SluiceError} SLUICE_QUERY_TABLE
   */
  constructor (options, found) {
    const { table, layout, source, timeColumn, sensorColumn, valueColumn, intervalMs } = options
    const own = found.filter(({ tableName }) => tableName === table)
    const columns = own.length > 0 ? own : found
    this.#options = options
    this.#kinds = new Map(columns.map(({ name, kind }) => [name, kind]))
    this.#name = quote(table)
    if (columns.length === 0) throw new SluiceError('SLUICE_QUERY_TABLE', `There is no table ${this.#name}.`, { fix: 'Check table and database; the sink makes it with its first batch.' })

    const kind = this.#kinds.get(timeColumn) ?? ''
    const column = quote(timeColumn)
    const exact = [`${timeColumn}_ns`, timeColumn].find(name => this.#kinds.get(name) === 'bigint')
    const isTimestamp = TIMESTAMPS.includes(kind)
    if (exact === undefined && !isTimestamp) {
      if (!this.#kinds.has(timeColumn)) throw this.#missing(timeColumn, 'Set the time column.')
      throw new SluiceError('SLUICE_QUERY_TABLE', `The column ${column} of ${this.#name} is of type ${kind}.`, { fix: 'Set a time column of type datetime, or of type bigint with nanoseconds since 1970.' })
    }
    this.#exact = exact !== undefined ? quote(exact) : `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${column}) * 1000)`
    const isComputed = columns.some(({ name, generated }) => name === timeColumn && generated !== '')
    this.#coarse = isTimestamp && !isComputed ? column : null

    this.intervalNs = BigInt(intervalMs) * 1_000_000n
    this.isNarrow = layout === 'narrow'
    this.valueColumns = this.isNarrow ? ['', '_int64', '_string', '_bytes'].map(ending => valueColumn + ending).filter(name => this.#kinds.has(name)) : []
    if (source !== '' && !this.#kinds.has('source')) throw this.#missing('source', 'Leave the source empty.')
    if (this.isNarrow && !this.#kinds.has(sensorColumn)) throw this.#missing(sensorColumn, 'Set the sensor column, or another layout.')
    if (this.isNarrow && this.valueColumns.length === 0) throw this.#missing(valueColumn, 'Set the value column, or another layout.')
    if (layout === 'document' && !this.#kinds.has(MEASUREMENTS)) throw this.#missing(MEASUREMENTS, 'Set another layout.')
  }

  /**
   * What makes a sample's value of what the driver gives of a column: whole numbers that are not safe and decimals, as text.
   * @param {string} column
   * @returns {(value: any) => import('../reader.js').Sample['value']}
   */
  valueOf (column) {
    switch (this.#kinds.get(column)) {
      case 'bigint': return value => typeof value === 'string' ? BigInt(value) : value
      case 'decimal': return Number
      default: return value => value instanceof Uint8Array ? bytesText(value) : value
    }
  }

  /** @param {string} sensor */
  has (sensor) {
    if (this.isNarrow) return true
    return this.#kinds.has(sensor) && !OWN.includes(sensor) && sensor !== this.#options.timeColumn && sensor !== `${this.#options.timeColumn}_ns`
  }

  /**
   * Rows of time, then in the narrow layout sensor and value columns, else the value of each sensor.
   * @param {string[]} sensors
   * @param {{from: bigint, to: bigint}} range
   * @returns {Statement}
   */
  samples (sensors, range) {
    const where = this.#where(range)
    const columns = this.isNarrow ? [this.#sensor, ...this.valueColumns.map(quote)] : sensors.map(quote)
    const there = this.isNarrow ? this.#oneOf(sensors) : { sql: columns.map(column => `${column} IS NOT NULL`).join(' OR '), values: [] }
    return {
      sql: `SELECT ${this.#exact}, ${columns.join(', ')} FROM ${this.#name} WHERE ${where.sql} AND (${there.sql}) ORDER BY ` +
        `${this.#order('')}`,
      values: [...where.values, ...there.values]
    }
  }

  /** Rows of an interval's start and its document as text. @param {{from: bigint, to: bigint}} range @returns {Statement} */
  documents (range) {
    const where = this.#where(range)
    return { sql: `SELECT ${this.#exact}, ${quote(MEASUREMENTS)} FROM ${this.#name} WHERE ${where.sql} ORDER BY ${this.#order('')}`, values: where.values }
  }

  /**
   * Rows of bucket, then in the narrow layout the sensor, then the statistics, of each sensor in the others. A count is always the first of
   * them.
   * @param {string[]} sensors
   * @param {{from: bigint, to: bigint, bucketNs?: bigint}} range
   * @param {Statistic[]} statistics  the first one is the count
   * @returns {Statement}
   */
  summaries (sensors, { bucketNs, ...range }, statistics) {
    const where = this.#where(range)
    const of = (/** @type {string} */ number) => statistics.map(name => AGGREGATES[name](number)).join(', ')
    const bucket = bucketNs === undefined
      ? { sql: WHOLE, values: [String(range.from)] }
      : { sql: `${this.#exact} - MOD(MOD(${this.#exact}, ${WHOLE}) + ${WHOLE}, ${WHOLE})`, values: Array(3).fill(String(bucketNs)) }
    const columns = this.isNarrow ? `${this.#sensor} AS sensor, ${of(this.#number())}` : sensors.map(sensor => of(this.#number(sensor))).join(', ')
    const only = this.isNarrow ? this.#oneOf(sensors) : { sql: '1 = 1', values: [] }
    return {
      sql: `SELECT ${bucket.sql}, ${columns} FROM ${this.#name} WHERE ${where.sql} AND ${only.sql} GROUP BY ` +
        `${this.isNarrow ? '1, 2' : '1'}`,
      values: [...bucket.values, ...where.values, ...only.values]
    }
  }

  /** @param {{sensor: string, from: bigint, to: bigint, above?: number, below?: number, last?: boolean}} range @returns {Statement} */
  edge ({ sensor, above, below, last = false, ...range }) {
    const number = this.#number(sensor)
    const limits = [...above === undefined ? [] : [{ sql: `${number} > ?`, value: above }], ...below === undefined ? [] : [{ sql: `${number} < ?`, value: below }]]
    const over = limits.map(({ sql }) => sql).join(' OR ') || '1 = 0'
    return this.#one(sensor, range, { sql: over, values: limits.map(({ value }) => value) }, this.#order(last ? ' DESC' : ''))
  }

  /** @param {{sensor: string, from: bigint, to: bigint}} range @returns {Statement} */
  minimum ({ sensor, ...range }) {
    const number = this.#number(sensor)
    return this.#one(sensor, range, { sql: `${number} IS NOT NULL`, values: [] }, `${number}, ${this.#order('')}`)
  }

  /**
   * The time of one row.
   * @param {string} sensor
   * @param {{from: bigint, to: bigint}} range
   * @param {Statement} condition
   * @param {string} order
   * @returns {Statement}
   */
  #one (sensor, range, condition, order) {
    const where = this.#where(range)
    const only = this.isNarrow ? this.#oneOf([sensor]) : { sql: '1 = 1', values: [] }
    return {
      sql: `SELECT ${this.#exact} FROM ${this.#name} WHERE ${where.sql} AND ${only.sql} AND (${condition.sql}) ORDER BY ${order} LIMIT 1`,
      values: [...where.values, ...only.values, ...condition.values]
    }
  }

  /** As bytes, which are compared exactly: texts may ignore case, accents and spaces. Sensors may be numbers. */
  get #sensor () {
    return `CAST(CONVERT(${quote(this.#options.sensorColumn)} USING utf8mb4) AS BINARY)`
  }

  /** @param {string[]} sensors @returns {Statement} */
  #oneOf (sensors) {
    return { sql: `${this.#sensor} IN (${sensors.map(() => '?').join(', ')})`, values: sensors.map(sensor => Buffer.from(sensor)) }
  }

  /** A sensor's value as a number; NULL where it is none. @param {string} [sensor]  in the wide layout */
  #number (sensor) {
    const numbers = (this.isNarrow ? this.valueColumns : [String(sensor)]).filter(name => NUMBERS.includes(this.#kinds.get(name) ?? '')).map(quote)
    return numbers.length > 1 ? `COALESCE(${numbers.join(', ')})` : numbers[0] ?? 'NULL'
  }

  /** @param {string} way */
  #order (way) {
    return [...this.#coarse ? [this.#coarse] : [], this.#exact].map(each => each + way).join(', ')
  }

  /** The range in nanoseconds, and again in what an index may be on. @param {{from: bigint, to: bigint}} range @returns {Statement} */
  #where ({ from, to }) {
    const { source } = this.#options
    const conditions = [{ sql: `${this.#exact} >= ${WHOLE} AND ${this.#exact} < ${WHOLE}`, values: [String(from), String(to)] }]
    if (this.#coarse) conditions.push({ sql: `${this.#coarse} >= CAST(? AS DATETIME(6)) AND ${this.#coarse} <= CAST(? AS DATETIME(6))`, values: [microseconds(from), microseconds(to)] })
    if (source !== '') conditions.push({ sql: '`source` = ?', values: [source] })
    return { sql: conditions.map(({ sql }) => sql).join(' AND '), values: conditions.flatMap(({ values }) => values) }
  }

  /** @param {string} column @param {string} fix */
  #missing (column, fix) {
    return new SluiceError('SLUICE_QUERY_TABLE', `The table ${this.#name} has no column ${quote(column)}.`, { fix })
  }
}

/** @param {bigint} ns */
function microseconds (ns) {
  return formatTime(floor(ns, 1000n)).replace('000Z', '').replace('T', ' ')
}
