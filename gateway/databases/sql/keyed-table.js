import { asIn, HIDDEN, keyColumn } from '../reading/keys.js'
import { bytesOf } from '../reading/values.js'
import { TableStatements } from './table-statements.js'

/** @typedef {import('../reader.js').KeyValue} KeyValue */

/** A table whose rows are read whole, by the values of some columns. */
export class KeyedTable {
  #name
  #dialect
  #source
  #time
  #columns

  /**
   * @param {import('../reading/table.js').TableOptions} options
   * @param {string} name  quoted
   * @param {import('./read-dialect.js').Column[]} columns  as it has them
   * @param {import('./read-dialect.js').ReadDialect} dialect
   */
  constructor (options, name, columns, dialect) {
    const { timeColumn, source } = options
    const { time } = new TableStatements({ ...options, layout: 'wide' }, name, columns, dialect)
    this.#name = name
    this.#dialect = dialect
    this.#source = source
    this.#time = time
    this.#columns = columns.filter(column => ![timeColumn, `${timeColumn}_ns`].includes(column.name) && !HIDDEN.includes(column.name))
  }

  /**
   * The rows with one of these keys.
   * @param {string[]} names
   * @param {KeyValue[][]} keys  of each a value for each name
   * @returns {import('./table-statements.js').Statement|null} null where no row can have any of them
   * @throws {SluiceError} SLUICE_QUERY_TABLE
   */
  statement (names, keys) {
    const { quote, parameter } = this.#dialect
    /** @type {any[]} */
    const values = []
    const add = (/** @type {KeyValue} */ value) =>
      typeof value === 'string' ? parameter(value, 'text', values) : parameter(BigInt(value), 'int64', values)
    const columns = names.map(name => this.#columnOf(name))
    const possible = keys.map(key => key.map((value, i) => asIn(columns[i].kind, value))).filter(key => !key.includes(undefined))
    if (possible.length === 0) return null
    const wanted = /** @type {KeyValue[][]} */ (possible)
    const quoted = columns.map(({ name }) => quote(name))
    const matching = quoted.length === 1
      ? `${quoted[0]} IN (${wanted.map(([value]) => add(value)).join(', ')})`
      : `(${wanted.map(key => key.map((value, i) => `${quoted[i]} = ${add(value)}`).join(' AND ')).join(' OR ')})`
    const its = this.#source === '' ? '' : ` AND ${quote('source')} = ${add(this.#source)}`
    const shown = [this.#time, ...this.#columns.map(({ name }) => quote(name))]
    return { sql: `SELECT ${shown.join(', ')} FROM ${this.#name} WHERE ${matching}${its}`, values }
  }

  /** @param {string[]} names  of the key @param {any[]} cells @returns {import('../reader.js').Found} */
  found (names, [time, ...cells]) {
    const { valueOf } = this.#dialect
    const values = new Map(this.#columns.map(({ name, kind }, i) =>
      [name, cells[i] === null ? null : bytesOf(cells[i]) ?? valueOf(kind, false)(cells[i])]))
    return { key: names.map(name => values.get(this.#columnOf(name).name)), row: { time: BigInt(time), ...Object.fromEntries(values) } }
  }

  /** @param {string} name */
  #columnOf (name) {
    return keyColumn(name, this.#columns, this.#dialect.ownNames, this.#name)
  }
}
