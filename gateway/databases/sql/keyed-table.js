import { SluiceError } from '../../base/errors.js'
import { bytesOf } from '../reading/values.js'
import { UPSERT_COLUMNS } from '../upsert/layout.js'
import { tagColumnOf } from '../wide.js'
import { TableStatements } from './table-statements.js'

/** Columns that say which row is newer, and whose it is; of times, the exact one is shown. */
const HIDDEN = [...UPSERT_COLUMNS, 'sluice_row']

/** Kinds of columns, in whichever dialect, whose values are texts, and whole numbers. */
const TEXT = /char|text|clob|string/i
const WHOLE = /int/i

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

  /** Where the sink has put a field or tag. @param {string} name */
  #columnOf (name) {
    const isOwn = this.#dialect.ownNames.includes(name)
    const places = isOwn ? [`${name}~field`, tagColumnOf(name), name] : [name, tagColumnOf(name)]
    const found = places.map(place => this.#columns.find(column => column.name === place)).find(column => column !== undefined)
    if (found) return found
    throw new SluiceError('SLUICE_QUERY_TABLE', `The table ${this.#name} has no column ${this.#dialect.quote(name)}.`, {
      fix: 'Correct the key, or the table.'
    })
  }
}

/**
 * A value as a column's can be compared with it, whatever it came as; undefined where none equals it.
 * @param {string} kind
 * @param {KeyValue} value
 * @returns {KeyValue|undefined}
 */
function asIn (kind, value) {
  if (TEXT.test(kind)) return String(value)
  const isNumber = typeof value !== 'string' || (WHOLE.test(kind) && /^(0|-?[1-9]\d{0,18})$/.test(value))
  if (!isNumber) return WHOLE.test(kind) ? undefined : value
  const number = BigInt(value)
  return BigInt.asIntN(64, number) === number ? number : undefined
}
