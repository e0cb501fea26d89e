import { SluiceError } from '../../base/errors.js'
import { bytesOf } from '../reading/values.js'
import { tagColumnOf } from '../wide.js'
import { TableStatements } from './table-statements.js'

/** Columns that say which row is newer, and whose it is; of times, the exact one is shown. */
const HIDDEN = /^sluice_/

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
    this.#columns = columns.filter(column => ![timeColumn, `${timeColumn}_ns`].includes(column.name) && !HIDDEN.test(column.name))
  }

  /**
   * The rows with one of these keys.
   * @param {string[]} names
   * @param {import('../reader.js').KeyValue[][]} keys  of each a value for each name
   * @returns {import('./table-statements.js').Statement}
   * @throws {SluiceError} SLUICE_QUERY_TABLE
   */
  statement (names, keys) {
    const { quote, parameter } = this.#dialect
    /** @type {any[]} */
    const values = []
    const add = (/** @type {import('../reader.js').KeyValue} */ value) =>
      typeof value === 'string' ? parameter(value, 'text', values) : parameter(BigInt(value), 'int64', values)
    const columns = names.map(name => quote(this.#columnOf(name)))
    const matching = columns.length === 1
      ? `${columns[0]} IN (${keys.map(([value]) => add(value)).join(', ')})`
      : `(${keys.map(key => key.map((value, i) => `${columns[i]} = ${add(value)}`).join(' AND ')).join(' OR ')})`
    const its = this.#source === '' ? '' : ` AND ${quote('source')} = ${add(this.#source)}`
    const shown = [this.#time, ...this.#columns.map(({ name }) => quote(name))]
    return { sql: `SELECT ${shown.join(', ')} FROM ${this.#name} WHERE ${matching}${its}`, values }
  }

  /** @param {any[]} cells @returns {import('../reader.js').KeyedRow} */
  rowOf ([time, ...cells]) {
    const { valueOf } = this.#dialect
    const named = this.#columns.map(({ name, kind }, i) =>
      [name, cells[i] === null ? null : bytesOf(cells[i]) ?? valueOf(kind, false)(cells[i])])
    return { time: BigInt(time), ...Object.fromEntries(named) }
  }

  /** @param {string} name  of a field or tag */
  #columnOf (name) {
    const found = [tagColumnOf(name), name].find(each => this.#columns.some(column => column.name === each))
    if (found !== undefined) return found
    throw new SluiceError('SLUICE_QUERY_TABLE', `The table ${this.#name} has no column ${this.#dialect.quote(name)}.`, {
      fix: 'Correct the key, or the table.'
    })
  }
}
