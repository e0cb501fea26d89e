import { SluiceError } from '../../base/errors.js'
import { bytesOf } from '../reading/values.js'
import { UPSERT_COLUMNS } from '../upsert/layout.js'
import { tagColumnOf } from '../wide.js'
import { MEASUREMENTS } from '../../batch/layouts.js'

/**
 * The statements that read a table of any layout, in a database's own SQL. Names of sensors become identifiers only where the table has
 * such a column; all else is a parameter.
 *
 * @typedef {import('../reading/table.js').TableOptions} TableOptions
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {{sql: string, values: any[]}} Statement
 * @typedef {import('./read-dialect.js').AddParameter} AddParameter
 * @typedef {import('./read-dialect.js').Column} Column
 * @typedef {import('./read-dialect.js').ReadDialect} ReadDialect
 * @typedef {import('./read-dialect.js').Times} Times
 * @typedef {import('./read-dialect.js').Timestamps} Timestamps
 */

/** A table as it is, and what to ask of it. */
export class TableStatements {
  #options
  #name
  #dialect
  /** types by column @type {Map<string, string>} */
  #kinds
  /** it is read as wide, whatever its columns are called */
  #isUpsert
  /** the time in nanoseconds */
  #exact
  /** @type {Timestamps['within']} */
  #within
  #isWithinExact
  /** @type {string[]} */
  #order

  /**
   * @param {TableOptions} options
   * @param {string} name  of the table, quoted
   * @param {Column[]} columns  none of a table that does not exist
   * @param {ReadDialect} dialect
   * @throws {SluiceError} SLUICE_QUERY_TABLE
   */
  constructor (options, name, columns, dialect) {
    const { timeColumn, valueColumn, intervalMs } = options
    this.#options = options
    this.#name = name
    this.#dialect = dialect
    this.#kinds = new Map(columns.map(column => [column.name, column.kind]))
    this.isNarrow = options.layout === 'narrow'
    this.#isUpsert = UPSERT_COLUMNS.every(each => this.#kinds.has(each))
    this.intervalNs = BigInt(intervalMs) * 1_000_000n
    const valueColumns = ['', '_int64', '_string', '_bytes'].map(ending => valueColumn + ending).filter(each => this.#kinds.has(each))
    this.valueColumns = this.isNarrow ? valueColumns : []
    if (columns.length === 0) {
      throw new SluiceError('SLUICE_QUERY_TABLE', `The table ${name} does not exist.`, {
        fix: `${dialect.missingTableFix}; the sink creates it with its first batch.`
      })
    }

    const times = [`${timeColumn}_ns`, timeColumn].flatMap(each => columns.find(found => found.name === each) ?? [])
    const exact = times.find(({ kind }) => dialect.isNanoseconds(kind))?.name
    const column = times.find(each => each.name === timeColumn)
    const quoted = dialect.quote(timeColumn)
    const timestamps = column ? dialect.timestamps(quoted, column) : null
    if (exact === undefined && timestamps === null) throw this.#noTime()
    this.#exact = exact !== undefined ? dialect.quote(exact) : /** @type {Timestamps} */ (timestamps).nanoseconds
    this.#within = timestamps?.within ?? null
    this.#isWithinExact = exact === undefined && timestamps?.isExact === true
    this.#order = timestamps?.order ?? (this.#within ? [quoted, ...exact !== undefined ? [this.#exact] : []] : [this.#exact])
    this.#checkColumns()
  }

  /** The time in nanoseconds, in SQL. */
  get time () { return this.#exact }

  /** @param {string} sensor */
  has (sensor) {
    if (this.isNarrow) return !this.#dialect.refusesNul || !sensor.includes('\0')
    const { timeColumn } = this.#options
    if (this.#isUpsert && UPSERT_COLUMNS.includes(sensor)) return false
    return this.#kinds.has(sensor) && ![...this.#dialect.ownNames, timeColumn, `${timeColumn}_ns`].includes(sensor)
  }

  /**
   * Those of the sensors that the table has.
   * @param {string[]} sensors
   * @throws {SluiceError} SLUICE_QUERY_TABLE where it has none, but columns by which another layout holds them
   */
  known (sensors) {
    const known = sensors.filter(sensor => this.has(sensor))
    if (known.length > 0 || sensors.length === 0 || this.isNarrow) return known
    const layout = this.#otherLayout
    if (layout === undefined) return known
    const message = `The table ${this.#name} has no column ${this.#dialect.quote(sensors[0])}, but those of the layout ${layout}.`
    throw new SluiceError('SLUICE_QUERY_TABLE', message, { fix: `Set the layout ${layout}, or another sensor.` })
  }

  /** The layout other than wide that a table's columns look like. */
  get #otherLayout () {
    if (this.#isUpsert) return undefined
    const has = (/** @type {string[]} */ ...names) => names.every(name => this.#kinds.has(name))
    if (has('size', MEASUREMENTS)) return 'document'
    return ['value', 'value_int64', 'value_string', 'value_bytes'].some(name => has('sensor', name)) ? 'narrow' : undefined
  }

  /** Those of a wide table. */
  get sensors () {
    return [...this.#kinds.keys()].filter(name => this.has(name))
  }

  /** Whether a sensor that the table has may have values that are numbers. @param {string} sensor */
  hasNumbers (sensor) {
    return this.#number(sensor) !== null
  }

  /** Turns a cell of a column, not NULL, into a sample's value. @param {string} column */
  valueOf (column) {
    return this.#dialect.valueOf(this.#kinds.get(column) ?? '', this.#holdsBytes(column))
  }

  /**
   * Rows of time, then in the narrow layout sensor and value columns, else the value of each sensor.
   * @param {string[]} sensors
   * @param {Times} range
   */
  samples (sensors, range) {
    const columns = this.isNarrow
      ? [this.#sensor, ...this.valueColumns.map(name => this.#cell(name))]
      : sensors.map(name => this.#cell(name))
    // Names of their own keep them apart where a driver returns rows as objects.
    const selected = [this.#exact, ...columns.map((column, i) => `${column} AS sluice_${i}`)]
    return this.#select(selected, add => {
      const conditions = [this.#where(range, add), ...this.isNarrow ? [this.#oneOf(sensors, add)] : this.#someOf(sensors)]
      return `${conditions.join(' AND ')} ORDER BY ${this.#sorted()}`
    })
  }

  /** All but those of time and of the sinks' own. */
  get wholeColumns () {
    const { timeColumn } = this.#options
    const own = [...this.#dialect.ownNames, ...this.#isUpsert ? UPSERT_COLUMNS : [], timeColumn, `${timeColumn}_ns`]
    return Array.from(this.#kinds, ([name, kind]) => ({ name, kind })).filter(({ name }) => !own.includes(name))
  }

  /** Rows of time, then those columns. @param {Times} range */
  wholeRows (range) {
    const selected = [this.#exact, ...this.wholeColumns.map(({ name }, column) => `${this.#cell(name)} AS sluice_${column}`)]
    return this.#select(selected, add => `${this.#where(range, add)} ORDER BY ${this.#sorted()}`)
  }

  /** Turns such a row into what a reader returns. @returns {(row: any[]) => import('../reader.js').Rows['rows'][number]} */
  get wholeRow () {
    const valueOf = this.wholeColumns.map(({ name }) => {
      const value = this.valueOf(name)
      return this.#holdsBytes(name) ? (/** @type {any} */ cell) => Buffer.from(String(value(cell)), 'base64') : value
    })
    return ([time, ...cells]) => [BigInt(time), ...cells.map((cell, i) => cell === null ? null : bytesOf(cell) ?? valueOf[i](cell))]
  }

  /** The sensors of a narrow table. @param {Times} range */
  distinctSensors (range) {
    return this.#select([`DISTINCT ${this.#sensor} AS sluice_sensor`], add => `${this.#where(range, add)} ORDER BY sluice_sensor`)
  }

  /** Rows of an interval's start and its document as text. @param {Times} range */
  documents (range) {
    return this.#select([this.#exact, this.#cell(MEASUREMENTS)], add => `${this.#where(range, add)} ORDER BY ${this.#sorted()}`)
  }

  /**
   * Rows of bucket, then in the narrow layout the sensor, then the statistics; in the other layouts, the statistics of each sensor.
   * @param {string[]} sensors  that have numbers
   * @param {Times & {bucketNs?: bigint, together?: boolean}} range  `together`: of a narrow table, no sensors, and the statistics over all
   * @param {Statistic[]} statistics
   * @param {number} limit  of rows
   */
  summaries (sensors, { bucketNs, together = false, ...range }, statistics, limit) {
    const { values, add } = this.#parameters()
    const length = () => add(bucketNs, 'int64')
    const bucket = bucketNs === undefined
      ? add(range.from, 'int64')
      : `${this.#exact} - ((${this.#exact} % ${length()}) + ${length()}) % ${length()}`
    const of = (/** @type {string} */ sensor) => statistics.map(name => this.#aggregate(name, String(this.#number(sensor))))
    const bySensor = this.isNarrow && !together
    const columns = this.isNarrow ? [...bySensor ? [`${this.#sensor} AS sluice_sensor`] : [], ...of('')] : sensors.flatMap(of)
    const where = this.#where(range, add) + (this.isNarrow ? ` AND ${this.#oneOf(sensors, add)}` : '')
    const groups = bySensor ? 'sluice_bucket, sluice_sensor' : 'sluice_bucket'
    const select = `SELECT ${[`${bucket} AS sluice_bucket`, ...columns].join(', ')} FROM ${this.#name}`
    return { sql: `${select} WHERE ${where} GROUP BY ${groups} LIMIT ${limit}`, values }
  }

  /**
   * The first or last row whose value is over or under a limit.
   * @param {Times & {sensor: string, above?: number, below?: number, last?: boolean}} range
   */
  edge ({ sensor, above, below, last = false, ...range }) {
    const number = String(this.#number(sensor))
    return this.#one(sensor, range, add => {
      const over = [
        ...above === undefined ? [] : [`${number} > ${add(above, 'float64')}`],
        ...below === undefined ? [] : [`${number} < ${add(below, 'float64')}`]
      ]
      return over.join(' OR ') || '1 = 0'
    }, this.#sorted(last))
  }

  /** The first row of the least value. @param {Times & {sensor: string}} range */
  minimum ({ sensor, ...range }) {
    const number = String(this.#number(sensor))
    return this.#one(sensor, range, () => `${number} IS NOT NULL`, `${number}, ${this.#sorted()}`)
  }

  /** The time of the row after so many of a range. @param {number} rows @param {Times} range @param {boolean} backwards */
  after (rows, range, backwards) {
    return this.#select([this.#exact], add => `${this.#where(range, add)} ORDER BY ${this.#sorted(backwards)} LIMIT 1 OFFSET ${rows}`)
  }

  /**
   * Time and value of one row.
   * @param {string} sensor
   * @param {Times} range
   * @param {(add: AddParameter) => string} condition
   * @param {string} order
   */
  #one (sensor, range, condition, order) {
    return this.#select([this.#exact, String(this.#number(sensor))], add => {
      const conditions = [this.#where(range, add), ...this.isNarrow ? [this.#oneOf([sensor], add)] : [], `(${condition(add)})`]
      return `${conditions.join(' AND ')} ORDER BY ${order} LIMIT 1`
    })
  }

  /** @param {string[]} columns  without parameters @param {(add: AddParameter) => string} where @returns {Statement} */
  #select (columns, where) {
    const { values, add } = this.#parameters()
    return { sql: `SELECT ${columns.join(', ')} FROM ${this.#name} WHERE ${where(add)}`, values }
  }

  /** @returns {{values: any[], add: AddParameter}} */
  #parameters () {
    /** @type {any[]} */
    const values = []
    return { values, add: (value, type) => this.#dialect.parameter(value, type, values) }
  }

  /** The range in nanoseconds, and again in what an index may be on; source and tags. @param {Times} range @param {AddParameter} add */
  #where (range, add) {
    const { source } = this.#options
    return [
      ...this.#within ? [this.#within(range, add)] : [],
      ...this.#isWithinExact ? [] : [`${this.#exact} >= ${add(range.from, 'int64')} AND ${this.#exact} < ${add(range.to, 'int64')}`],
      ...source === '' ? [] : [`${this.#dialect.quote('source')} = ${add(source, 'text')}`],
      ...Object.entries(range.tags ?? {}).map(([tag, values]) => this.#tagged(tag, values, add))
    ].join(' AND ')
  }

  /**
   * Rows with one of these values of a tag; without a column for it, none has one.
   * @param {string} tag
   * @param {(string|null)[]} values
   * @param {AddParameter} add
   */
  #tagged (tag, values, add) {
    const name = [tagColumnOf(tag), tag].find(each => this.#kinds.has(each))
    if (name === undefined) return values.includes(null) ? '1 = 1' : '1 = 0'
    const { quote, sensor, refusesNul } = this.#dialect
    const column = quote(name)
    const texts = values.filter(value => value !== null).filter(value => !refusesNul || !value.includes('\0'))
    const isOneOf = `${sensor(column, this.#kinds.get(name) ?? '')} IN (${texts.map(text => add(text, 'sensor')).join(', ')})`
    const conditions = [...values.includes(null) ? [`${column} IS NULL`] : [], ...texts.length > 0 ? [isOneOf] : []]
    return `(${conditions.join(' OR ') || '1 = 0'})`
  }

  #sorted (backwards = false) {
    return this.#order.map(column => backwards ? `${column} DESC` : column).join(', ')
  }

  get #sensor () {
    const { sensorColumn } = this.#options
    return this.#dialect.sensor(this.#dialect.quote(sensorColumn), this.#kinds.get(sensorColumn) ?? '')
  }

  /**
   * Numbers are compared as such where the column has them: an index on it is of no use to its text.
   * @param {string[]} sensors @param {AddParameter} add
   */
  #oneOf (sensors, add) {
    const { sensorColumn } = this.#options
    const column = this.#dialect.quote(sensorColumn)
    const isNumber = this.#sensor !== column && this.#dialect.isNanoseconds(this.#kinds.get(sensorColumn) ?? '') && sensors.every(isInt64)
    if (isNumber) return `${column} IN (${sensors.map(sensor => add(BigInt(sensor), 'int64')).join(', ')})`
    return `${this.#sensor} IN (${sensors.map(sensor => add(sensor, 'sensor')).join(', ')})`
  }

  /** Leaves out rows without a value of any of these; only of so many, as conditions nest only so deep. @param {string[]} sensors */
  #someOf (sensors) {
    if (sensors.length > MAX_CONDITIONS) return []
    return [`(${sensors.map(sensor => `${this.#dialect.quote(sensor)} IS NOT NULL`).join(' OR ')})`]
  }

  /** @param {string} name */
  #cell (name) {
    const column = this.#dialect.quote(name)
    return this.#dialect.cell?.(column, this.#holdsBytes(name)) ?? column
  }

  /** @param {string} column */
  #holdsBytes (column) {
    return this.isNarrow && column === `${this.#options.valueColumn}_bytes`
  }

  /** A sensor's value as a number, NULL where it is not one; null where it never is. @param {string} sensor */
  #number (sensor) {
    const numbers = (this.isNarrow ? this.valueColumns : [sensor]).flatMap(name =>
      this.#dialect.number(this.#dialect.quote(name), this.#kinds.get(name) ?? '') ?? [])
    if (numbers.length < 2) return numbers[0] ?? null
    return this.#dialect.firstOf?.(numbers) ?? `coalesce(${numbers.join(', ')})`
  }

  /** @param {Statistic} statistic @param {string} number */
  #aggregate (statistic, number) {
    const { double, stddev = '', mean = 'avg' } = this.#dialect
    if (statistic === 'count') return `count(${number})`
    return `${{ mean, stddev }[/** @type {string} */ (statistic)] ?? statistic}(${double(number)})`
  }

  #checkColumns () {
    const { layout, source, sensorColumn, valueColumn } = this.#options
    if (source !== '') this.#demand('source', 'Leave the source empty.')
    if (this.isNarrow) this.#demand(sensorColumn, 'Set the sensor column, or another layout.')
    if (this.isNarrow && this.valueColumns.length === 0) this.#demand(valueColumn, 'Set the value column, or another layout.')
    if (layout === 'document') this.#demand(MEASUREMENTS, 'Set another layout.')
  }

  /** @param {string} column @param {string} fix */
  #demand (column, fix) {
    if (this.#kinds.has(column)) return
    throw new SluiceError('SLUICE_QUERY_TABLE', `The table ${this.#name} has no column ${this.#dialect.quote(column)}.`, { fix })
  }

  #noTime () {
    const { timeColumn } = this.#options
    this.#demand(timeColumn, 'Set the time column.')
    const { quote, timeTypes } = this.#dialect
    const kind = this.#kinds.get(timeColumn)
    return new SluiceError('SLUICE_QUERY_TABLE', `The column ${quote(timeColumn)} of ${this.#name} is of type ${kind}.`, {
      fix: `Set a time column of type ${timeTypes} with nanoseconds since 1970.`
    })
  }
}

/** SQLite nests expressions up to 1000 deep. */
const MAX_CONDITIONS = 500

/** A whole number of 64 bits as a database writes it. @param {string} text */
function isInt64 (text) {
  return /^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}
