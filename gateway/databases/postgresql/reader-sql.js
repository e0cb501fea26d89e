import { SluiceError } from '../../base/errors.js'
import { formatTime } from '../../batch/time.js'
import { floor, MEASUREMENTS } from '../../batch/layouts.js'
import { quote } from '../names.js'

/**
 * The statements of the PostgreSQL reader. Names of sensors become identifiers only where the table has such a column; all else is a
 * parameter.
 *
 * @typedef {import('../reading/table.js').TableOptions & {schema: string}} TableOptions
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {{text: string, values: unknown[]}} Statement
 */

/** Its columns, of a table's or view's quoted name. */
export const READ_COLUMNS = `
  SELECT a.attname AS name, t.typname AS kind FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`

/** Columns of a wide table that hold no sensor. */
const OWN = ['time', 'time_ns', 'source']

const WHOLE = ['int2', 'int4', 'int8', 'numeric']
const FLOATS = ['float4', 'float8']
const TIMESTAMPS = ['timestamptz', 'timestamp']

/** @type {Record<Statistic, (number: string) => string>} */
const AGGREGATES = {
  count: number => `count(${number})`,
  mean: number => `avg((${number})::float8)`,
  min: number => `min(${number})::float8`,
  max: number => `max(${number})::float8`,
  stddev: number => `stddev_samp((${number})::float8)`
}

/** Gathers the parameters of a statement. */
class Parameters {
  /** @type {unknown[]} */
  values = []

  /** @param {unknown} value @param {string} type  PostgreSQL's name of it */
  add (value, type) {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}

/** A table as it is, and what to ask of it. */
export class ReadTable {
  #options
  /** types by column @type {Map<string, string>} */
  #kinds
  #name
  /** the time in nanoseconds */
  #exact
  /** what an index may be on, where that is another column, and its type */
  #coarse
  #order

  /**
   * @param {TableOptions} options
   * @param {{name: string, kind: string}[]} columns
   * @throws {SluiceError} SLUICE_QUERY_TABLE
   */
  constructor (options, columns) {
    const { layout, source, timeColumn, sensorColumn, valueColumn, intervalMs } = options
    this.#options = options
    this.#kinds = new Map(columns.map(({ name, kind }) => [name, kind]))
    this.#name = nameOf(options)
    if (columns.length === 0) throw new SluiceError('SLUICE_QUERY_TABLE', `There is no table ${this.#name}.`, { fix: 'Check table and schema; the sink makes it with its first batch.' })

    const kind = this.#kinds.get(timeColumn) ?? ''
    const column = quote(timeColumn)
    const exact = [`${timeColumn}_ns`, timeColumn].find(name => this.#kinds.get(name) === 'int8')
    this.#coarse = TIMESTAMPS.includes(kind) ? { column, kind } : null
    if (exact === undefined && this.#coarse === null) {
      if (!this.#kinds.has(timeColumn)) throw this.#missing(timeColumn, 'Set the time column.')
      throw new SluiceError('SLUICE_QUERY_TABLE', `The column ${column} of ${this.#name} is of type ${kind}.`, { fix: 'Set a time column of type timestamptz, or of type bigint with nanoseconds since 1970.' })
    }
    this.#exact = exact !== undefined ? quote(exact) : `(extract(epoch FROM ${column}) * 1000000)::int8 * 1000`
    this.#order = (/** @type {string} */ way) => [...(this.#coarse ? [this.#coarse.column] : []), ...(exact !== undefined ? [this.#exact] : [])].map(each => each + way).join(', ')

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
    if (this.isNarrow) return !sensor.includes('\0') // which no text of PostgreSQL does
    return this.#kinds.has(sensor) && !OWN.includes(sensor) && sensor !== this.#options.timeColumn && sensor !== `${this.#options.timeColumn}_ns`
  }

  /**
   * Rows of time, then in the narrow layout sensor and value columns, else the value of each sensor.
   * @param {string[]} sensors
   * @param {{from: bigint, to: bigint}} range
   * @returns {Statement}
   */
  samples (sensors, range) {
    const parameters = new Parameters()
    const columns = this.isNarrow ? [this.#sensor, ...this.valueColumns.map(quote)] : sensors.map(quote)
    const there = this.isNarrow ? `${this.#sensor} = ANY (${parameters.add(sensors, 'text[]')})` : columns.map(column => `${column} IS NOT NULL`).join(' OR ')
    return this.#statement(parameters, `SELECT ${this.#exact}, ${columns.join(', ')}`, `${this.#where(parameters, range)} AND (${there}) ORDER BY ${this.#order('')}`)
  }

  /** Rows of an interval's start and its document as text. @param {{from: bigint, to: bigint}} range @returns {Statement} */
  documents (range) {
    const parameters = new Parameters()
    return this.#statement(parameters, `SELECT ${this.#exact}, ${quote(MEASUREMENTS)}::text`, `${this.#where(parameters, range)} ORDER BY ${this.#order('')}`)
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
    const parameters = new Parameters()
    const of = (/** @type {string} */ number) => statistics.map(name => AGGREGATES[name](number)).join(', ')
    const length = bucketNs !== undefined && parameters.add(bucketNs, 'int8')
    const bucket = length ? `${this.#exact} - mod(mod(${this.#exact}, ${length}) + ${length}, ${length})` : parameters.add(range.from, 'int8')
    const columns = this.isNarrow ? `${this.#sensor}, ${of(this.#number())}` : sensors.map(sensor => of(this.#number(sensor))).join(', ')
    const where = `${this.#where(parameters, range)}${this.isNarrow ? ` AND ${this.#sensor} = ANY (${parameters.add(sensors, 'text[]')})` : ''}`
    return this.#statement(parameters, `SELECT ${bucket}, ${columns}`, `${where} GROUP BY ${this.isNarrow ? '1, 2' : '1'}`)
  }

  /** @param {{sensor: string, from: bigint, to: bigint, above?: number, below?: number, last?: boolean}} range @returns {Statement} */
  edge ({ sensor, above, below, last = false, ...range }) {
    const parameters = new Parameters()
    const number = this.#number(sensor)
    const over = [
      ...(above === undefined ? [] : [`${number} > ${parameters.add(above, 'float8')}`]),
      ...(below === undefined ? [] : [`${number} < ${parameters.add(below, 'float8')}`])
    ].join(' OR ') || 'false'
    return this.#statement(parameters, `SELECT ${this.#exact}`, `${this.#where(parameters, range)}${this.#only(parameters, sensor)} AND (${over}) ORDER BY ${this.#order(last ? ' DESC' : '')} LIMIT 1`)
  }

  /** @param {{sensor: string, from: bigint, to: bigint}} range @returns {Statement} */
  minimum ({ sensor, ...range }) {
    const parameters = new Parameters()
    const number = this.#number(sensor)
    return this.#statement(parameters, `SELECT ${this.#exact}`, `${this.#where(parameters, range)}${this.#only(parameters, sensor)} AND ${number} IS NOT NULL ORDER BY ${number}, ${this.#order('')} LIMIT 1`)
  }

  /** Sensors may be numbers. */
  get #sensor () {
    const { sensorColumn } = this.#options
    return this.#kinds.get(sensorColumn) === 'text' ? quote(sensorColumn) : `${quote(sensorColumn)}::text`
  }

  /** A sensor's value as a number; NULL where it is none. @param {string} [sensor]  in the wide layout */
  #number (sensor) {
    const numbers = (this.isNarrow ? this.valueColumns : [String(sensor)]).flatMap(name => {
      const kind = this.#kinds.get(name) ?? ''
      if (WHOLE.includes(kind)) return [quote(name)]
      if (FLOATS.includes(kind)) return [`nullif(${quote(name)}, 'NaN')`]
      return kind === 'bool' ? [`${quote(name)}::int4`] : []
    })
    return numbers.length > 1 ? `coalesce(${numbers.join(', ')})` : numbers[0] ?? 'NULL::float8'
  }

  /** @param {Parameters} parameters @param {string} sensor */
  #only (parameters, sensor) {
    return this.isNarrow ? ` AND ${this.#sensor} = ${parameters.add(sensor, 'text')}` : ''
  }

  /**
   * The range in nanoseconds, and again in what an index may be on.
   * @param {Parameters} parameters
   * @param {{from: bigint, to: bigint}} range
   */
  #where (parameters, { from, to }) {
    const { source } = this.#options
    const exact = `${this.#exact} >= ${parameters.add(from, 'int8')} AND ${this.#exact} < ${parameters.add(to, 'int8')}`
    const only = source === '' ? '' : ` AND "source" = ${parameters.add(source, 'text')}`
    if (!this.#coarse) return exact + only
    const { column, kind } = this.#coarse
    return `${column} >= ${parameters.add(microseconds(from), kind)} AND ${column} <= ${parameters.add(microseconds(to), kind)} AND ${exact}${only}`
  }

  /** @param {Parameters} parameters @param {string} select @param {string} where @returns {Statement} */
  #statement ({ values }, select, where) {
    return { text: `${select} FROM ${this.#name} WHERE ${where}`, values }
  }

  /** @param {string} column @param {string} fix */
  #missing (column, fix) {
    return new SluiceError('SLUICE_QUERY_TABLE', `The table ${this.#name} has no column ${quote(column)}.`, { fix })
  }
}

/** @param {{schema: string, table: string}} options */
export function nameOf ({ schema, table }) {
  return `${quote(schema)}.${quote(table)}`
}

/** As text that PostgreSQL does not round. @param {bigint} ns */
function microseconds (ns) {
  return formatTime(floor(ns, 1000n)).replace('000Z', 'Z')
}
