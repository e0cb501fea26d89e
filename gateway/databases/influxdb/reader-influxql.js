import { quoteName, quoteTable, quoteText } from './influxql.js'

/**
 * The statements of a reader.
 *
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {{table: string, layout: 'wide'|'narrow', source: string, sensorColumn: string, valueColumn: string, retentionPolicy: string}}
 *   ReaderOptions
 * @typedef {{from: bigint, to: bigint, tags?: import('../reader.js').WantedTags}} Times  of tags that the measurement has
 */

// No point has a time beyond these.
const FIRST_TIME = -(2n ** 63n) + 2n
const LAST_TIME = 2n ** 63n - 2n

/** Limits that differ beyond so many decimals are taken for the same. */
const DECIMALS = 100

const FUNCTIONS = /** @type {const} */ (['count', 'mean', 'min', 'max', 'stddev', 'sum'])

export class Statements {
  #options
  #table

  /** @param {ReaderOptions} options */
  constructor (options) {
    this.#options = options
    this.#table = quoteTable(options.retentionPolicy, options.table)
  }

  fieldTypes () {
    return `SHOW FIELD KEYS FROM ${this.#table}`
  }

  tagKeys () {
    return `SHOW TAG KEYS FROM ${this.#table}`
  }

  /** Rows of key and value: the sensors of a narrow measurement. */
  sensorValues () {
    return `SHOW TAG VALUES FROM ${this.#table} WITH KEY = ${quoteName(this.#options.sensorColumn)}`
  }

  /** Columns: time, then the fields. @param {string[]} fields @param {Times} times */
  wideSamples (fields, times) {
    return `SELECT ${fields.map(quoteName).join(', ')} FROM ${this.#table} WHERE ${this.#within(times)}`
  }

  /** Columns: time, the sensor, then the fields. @param {string[]} fields @param {string[]} sensors @param {Times} times */
  narrowSamples (fields, sensors, times) {
    const columns = [this.#options.sensorColumn, ...fields].map(quoteName).join(', ')
    return `SELECT ${columns} FROM ${this.#table} WHERE ${this.#within(times, sensors)}`
  }

  /**
   * Columns: time, then count, mean, min, max and stddev of each field.
   * @param {string[]} fields  of numbers
   * @param {Times & {bucketNs?: bigint}} range
   * @param {string[]} [sensors]  of the narrow layout: a series each, with the sensor as its tag
   */
  summaries (fields, { bucketNs, ...times }, sensors) {
    const numbers = fields.flatMap((field, f) => FUNCTIONS.map(name => `${name}(${quoteName(field)}) AS "${name}${f}"`))
    const groups = [...bucketNs === undefined ? [] : [`time(${bucketNs}ns)`], ...sensors ? [quoteName(this.#options.sensorColumn)] : []]
    const grouped = groups.length > 0 ? ` GROUP BY ${groups.join(', ')}${bucketNs === undefined ? '' : ' fill(none)'}` : ''
    return `SELECT ${numbers.join(', ')} FROM ${this.#table} WHERE ${this.#within(times, sensors)}${grouped}`
  }

  /** @param {string} field @param {Times & {above: number, below: number, last: boolean}} range @param {string[]} [sensors] */
  edge (field, { above, below, last, ...times }, sensors) {
    const column = quoteName(field)
    const conditions = [
      ...above < Infinity ? [`${column} > ${numberText(above)}`] : [],
      ...below > -Infinity ? [`${column} < ${numberText(below)}`] : []
    ]
    return `SELECT ${column} FROM ${this.#table} WHERE ${this.#within(times, sensors)} AND (${conditions.join(' OR ')}) ` +
      `ORDER BY time ${last ? 'DESC' : 'ASC'} LIMIT 1`
  }

  /** @param {string} field @param {Times} times @param {string[]} [sensors] */
  minimum (field, times, sensors) {
    return `SELECT min(${quoteName(field)}) FROM ${this.#table} WHERE ${this.#within(times, sensors)}`
  }

  /** @param {Times} times @param {string[]} [sensors] */
  #within ({ from, to, tags = {} }, sensors) {
    const { source, sensorColumn } = this.#options
    const conditions = [`time >= ${from < FIRST_TIME ? FIRST_TIME : from}`, to > LAST_TIME ? `time <= ${LAST_TIME}` : `time < ${to}`]
    if (source !== '') conditions.push(`"source" = ${quoteText(source)}`)
    for (const [tag, values] of Object.entries({ ...sensors && { [sensorColumn]: sensors }, ...tags })) {
      conditions.push(`(${values.map(value => `${quoteName(tag)}::tag = ${quoteText(value ?? '')}`).join(' OR ')})`)
    }
    return conditions.join(' AND ')
  }
}

/**
 * The statistics of a field in a row of `summaries`.
 * @param {any[]} row
 * @param {number} field  its index
 * @returns {Partial<Record<Statistic, number|null>>}
 */
export function statisticsIn (row, field) {
  return Object.fromEntries(FUNCTIONS.map((name, i) => {
    const value = row[1 + field * FUNCTIONS.length + i]
    return [name, value === null ? null : Number(value)]
  }))
}

/** InfluxQL has no exponents, and whole numbers of 64 bits only. @param {number} number */
function numberText (number) {
  return Math.abs(number) > Number.MAX_SAFE_INTEGER ? `${BigInt(number)}.0` : number.toFixed(DECIMALS).replace(/\.?0+$/, '')
}
