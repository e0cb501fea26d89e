import { SluiceError } from '../../base/errors.js'
import { bytesText, whole } from '../reading/values.js'
import { MEASUREMENTS } from '../../batch/layouts.js'
import { quote } from '../names.js'

/**
 * The statements of the SQLite reader. Names of sensors become identifiers only where the table has such a column; all else is a parameter.
 *
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reading/table.js').TableOptions} TableOptions
 */

/** Columns of a wide table that hold no sensor. */
const OWN = ['time', 'time_ns', 'source']

/**
 * The table as it is now.
 * @param {import('node:sqlite').DatabaseSync} database
 * @param {TableOptions} options
 * @throws {SluiceError} SLUICE_QUERY_TABLE
 */
export function readTable (database, options) {
  const { table, timeColumn } = options
  /** @type {Map<string, string>} */
  const types = new Map()
  for (const { name, type } of database.prepare('SELECT name, type FROM pragma_table_xinfo(?)').all(table)) types.set(String(name), String(type).toUpperCase())
  if (types.size === 0) throw new SluiceError('SLUICE_QUERY_TABLE', `There is no table ${quote(table)}.`, { fix: 'Check its name; the sink makes it with its first batch.' })
  const time = [`${timeColumn}_ns`, timeColumn].find(name => types.has(name))
  if (time === undefined) throw missing(table, timeColumn, 'Set the time column.')
  return new ReadTable(options, types, time)
}

export class ReadTable {
  #options
  #types

  /** @param {TableOptions} options @param {Map<string, string>} types  of its columns @param {string} time */
  constructor (options, types, time) {
    const { table, layout, source, sensorColumn, valueColumn, intervalMs } = options
    const demand = (/** @type {string} */ name, /** @type {string} */ fix) => {
      if (!types.has(name)) throw missing(table, name, fix)
    }
    if (source !== '') demand('source', 'Leave the source empty.')
    if (layout === 'narrow') demand(sensorColumn, 'Set the sensor column, or another layout.')
    if (layout === 'document') demand(MEASUREMENTS, 'Set another layout.')
    this.#options = options
    this.#types = types
    this.layout = layout
    this.name = quote(table)
    this.time = quote(time)
    this.intervalNs = BigInt(intervalMs) * 1_000_000n
    this.sensor = quote(sensorColumn)
    /** @type {Record<string, string>} */
    this.parameters = source === '' ? {} : { source }
    this.valueColumns = layout === 'narrow' ? ['', '_int64', '_string', '_bytes'].map(ending => valueColumn + ending).filter(name => types.has(name)) : []
    if (layout === 'narrow' && this.valueColumns.length === 0) throw missing(table, valueColumn, 'Set the value column, or another layout.')
  }

  /** @param {string} sensor */
  has (sensor) {
    return this.layout === 'narrow' || (this.#types.has(sensor) && !OWN.includes(sensor) && quote(sensor) !== this.time)
  }

  /** What limits a statement to a range and its source. */
  get where () {
    return `${this.time} >= $from AND ${this.time} < $to${this.#options.source === '' ? '' : ' AND "source" = $source'}`
  }

  /** Of statements about one sensor. @returns {{value: string, filter: string}} `value` is its number, or NULL */
  ofSensor (/** @type {string} */ sensor) {
    const number = (/** @type {string} */ name) => `CASE WHEN typeof(${quote(name)}) IN ('integer', 'real') THEN ${quote(name)} END`
    if (this.layout !== 'narrow') return { value: number(sensor), filter: '' }
    return { value: this.valueColumns.length > 1 ? `coalesce(${this.valueColumns.map(number).join(', ')})` : number(this.valueColumns[0]), filter: ` AND ${this.sensor} = $sensor` }
  }

  /** @param {string} sensor @returns {Record<string, string>} */
  sensorParameters (sensor) {
    return this.layout === 'narrow' ? { sensor } : {}
  }

  /**
   * Puts a row of `samplesSql` into pages.
   * @param {any[]} row
   * @param {string[]} sensors  as given there
   * @param {import('../reading/pages.js').Pages} pages
   */
  addRow (row, sensors, pages) {
    const time = row[0]
    if (this.layout === 'narrow') {
      const sensor = String(row[1])
      const place = row.findIndex((value, i) => i > 1 && value !== null)
      if (place !== -1 && pages.has(sensor)) pages.add(time, sensor, valueOf(row[place], this.#types.get(this.valueColumns[place - 2])))
      return
    }
    for (let i = 0; i < sensors.length; i++) {
      const value = row[i + 1]
      if (value !== null) pages.add(time, sensors[i], valueOf(value, this.#types.get(sensors[i])))
    }
  }
}

/**
 * Rows of time, in the narrow layout the sensor, and the values; in the order of time.
 * @param {ReadTable} table
 * @param {string[]} sensors
 * @returns {{sql: string, parameters: Record<string, string>}}
 */
export function samplesSql (table, sensors) {
  const isNarrow = table.layout === 'narrow'
  const columns = (isNarrow ? table.valueColumns : sensors).map((name, i) => `${quote(name)} AS v${i}`)
  const parameters = isNarrow ? Object.fromEntries(sensors.map((sensor, i) => [`s${i}`, sensor])) : {}
  const filter = isNarrow ? ` AND ${table.sensor} IN (${sensors.map((_, i) => `$s${i}`).join(', ')})` : ''
  const sql = `SELECT ${table.time} AS time, ${isNarrow ? `${table.sensor} AS sensor, ` : ''}${columns.join(', ')} FROM ${table.name} WHERE ${table.where}${filter} ORDER BY ${table.time}`
  return { sql, parameters }
}

/** The time of the row after so many of a range. @param {ReadTable} table @param {number} rows @param {boolean} backwards */
export function sliceSql (table, rows, backwards) {
  return `SELECT ${table.time} AS time FROM ${table.name} WHERE ${table.where} ORDER BY ${table.time}${backwards ? ' DESC' : ''} LIMIT 1 OFFSET ${rows}`
}

/** @param {ReadTable} table @param {string} sensor @param {boolean} last */
export function edgeSql (table, sensor, last) {
  const { value, filter } = table.ofSensor(sensor)
  return `SELECT ${table.time} AS time FROM ${table.name} WHERE ${table.where}${filter} AND (${value} > $above OR ${value} < $below) ORDER BY ${table.time}${last ? ' DESC' : ''} LIMIT 1`
}

/** @param {ReadTable} table @param {string} sensor */
export function leastSql (table, sensor) {
  const { value, filter } = table.ofSensor(sensor)
  return `SELECT ${table.time} AS time, ${value} AS value FROM ${table.name} WHERE ${table.where}${filter} AND ${value} IS NOT NULL ORDER BY value, ${table.time} LIMIT 1`
}

/** @param {unknown} value  as SQLite has it @param {string} [type]  that its column declares @returns {Sample['value']} */
export function valueOf (value, type) {
  if (typeof value === 'bigint') return type === 'BOOLEAN' ? value !== 0n : whole(value)
  return value instanceof Uint8Array ? bytesText(value) : /** @type {number|string} */ (value)
}

/** @param {string} table @param {string} column @param {string} fix */
function missing (table, column, fix) {
  return new SluiceError('SLUICE_QUERY_TABLE', `The table ${quote(table)} has no column ${quote(column)}.`, { fix })
}
