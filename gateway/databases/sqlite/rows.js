import { quote } from '../names.js'
import { names, onConflict, STORED } from '../upsert/sql.js'
import { constantOf, valuesOf } from '../wide.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {import('node:sqlite').StatementSync} StatementSync
 * @typedef {import('node:sqlite').SQLInputValue} Value
 */

// More rows a statement save calls, but every bound value costs the same: beyond this many nothing is gained. SQLite accepts 32,766.
const VALUES_PER_STATEMENT = 512

/** @param {Plan} plan @param {number} rows */
export function insertStatement ({ table, columns, rest = [] }, rows) {
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = Array(rows).fill(row).join(', ')
  return `INSERT INTO ${quote(table)} AS ${STORED} (${names(columns)}) VALUES ${values}${onConflict(columns, rest)}`
}

/** Inserts rows of one plan, many a statement. */
export class RowInserter {
  /** Takes some 60 kB, which a thousand sources that never have so many rows at once must not. @type {() => StatementSync} */
  #prepareMany
  /** @type {StatementSync|undefined} */
  #many
  #one
  #rowsPerStatement
  #columns

  /** @param {import('node:sqlite').DatabaseSync} database @param {Plan} plan */
  constructor (database, plan) {
    const { columns } = plan
    this.#columns = columns
    this.#rowsPerStatement = Math.max(1, Math.floor(VALUES_PER_STATEMENT / columns.length))
    this.#one = database.prepare(insertStatement(plan, 1))
    this.#prepareMany = () => database.prepare(insertStatement(plan, this.#rowsPerStatement))
  }

  /** @param {Batch} batch */
  insert (batch) {
    const writers = this.#columns.map(column => fillOf(column, batch))
    const whole = batch.rows - batch.rows % this.#rowsPerStatement
    if (whole > 0) this.#run(this.#many ??= this.#prepareMany(), writers, 0, whole, this.#rowsPerStatement)
    this.#run(this.#one, writers, whole, batch.rows, 1)
  }

  /** @param {StatementSync} statement @param {Fill[]} fills @param {number} from @param {number} to @param {number} step */
  #run (statement, fills, from, to, step) {
    /** @type {Value[]} */
    const values = new Array(step * fills.length)
    for (let row = from; row < to; row += step) {
      for (let c = 0; c < fills.length; c++) fills[c](values, c, fills.length, row, step)
      statement.run(...values)
    }
  }
}

/**
 * Puts `count` values of a column, from row `row` on, at `at`, `at + stride`, …
 * @typedef {(values: Value[], at: number, stride: number, row: number, count: number) => void} Fill
 */

/**
 * @param {PlacedColumn} column
 * @param {Batch} batch
 * @returns {Fill}
 */
function fillOf (column, batch) {
  if (column.origin === 'time') return plain(batch.time)
  const text = constantOf(column, batch)
  if (text !== undefined) return constant(text)
  const { values, valid } = valuesOf(column, batch)
  const cells = /** @type {ArrayLike<Value>} */ (values)
  return valid ? withGaps(cells, valid) : plain(cells)
}

/** @param {string} value @returns {Fill} */
function constant (value) {
  return (values, at, stride, _row, count) => {
    for (let i = 0; i < count; i++) values[at + i * stride] = value
  }
}

/** NaN is bound as it is: SQLite itself turns it into NULL. @param {ArrayLike<Value>} column @returns {Fill} */
function plain (column) {
  return (values, at, stride, row, count) => {
    for (let i = 0; i < count; i++) values[at + i * stride] = column[row + i]
  }
}

/** @param {ArrayLike<Value>} column @param {Uint8Array} valid @returns {Fill} */
function withGaps (column, valid) {
  return (values, at, stride, row, count) => {
    for (let i = 0; i < count; i++) values[at + i * stride] = valid[row + i] === 0 ? null : column[row + i]
  }
}
