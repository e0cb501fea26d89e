import { Batch, COLUMN_TYPES, NOTHING } from '../batch/batch.js'
import { CellBudget, MAX_FIELDS } from './bounds.js'

/**
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {import('../batch/batch.js').Column} Column
 * @typedef {{name: string, type: FieldType, value: unknown, unit?: string}} Cell  the first value's unit is that of its column
 */

/** Rows of one source with the same tags, gathered one by one into columns. */
export class Series {
  #budget

  /** @param {string} source @param {Record<string, string>} tags @param {CellBudget} [budget]  of its message */
  constructor (source, tags, budget = new CellBudget()) {
    this.#budget = budget
    this.source = source
    this.tags = tags
    /** @type {bigint[]} */
    this.times = []
    /**
     * By name, the values that are there, and their rows.
     * @type {Map<string, {type: FieldType, unit?: string, rows: number[], values: unknown[]}>}
     */
    this.columns = new Map()
  }

  /**
   * Adds the row unless it does not fit: a column keeps the type of its first value.
   * @param {bigint} time @param {Cell[]} cells
   * @returns {string|null} why the row was refused
   */
  add (time, cells) {
    const { columns } = this
    let added = 0
    for (const { name, type } of cells) {
      const column = columns.get(name)
      if (!column) added++
      else if (column.type !== type) return `"${name}" is ${type} here and ${column.type} in the rows before`
    }
    if (columns.size + added > MAX_FIELDS) return `there are more than ${MAX_FIELDS} fields`
    const rows = this.times.length
    const noRoom = this.#budget.take(cells.length, (rows + 1) * (columns.size + added) - rows * columns.size)
    if (noRoom) return noRoom

    const row = this.times.push(time) - 1
    for (const { name, type, value, unit } of cells) {
      let column = columns.get(name)
      if (!column) columns.set(name, column = { type, unit, rows: [], values: [] })
      if (value === undefined) continue
      column.rows.push(row)
      column.values.push(value)
    }
    return null
  }

  toBatch () {
    const rows = this.times.length
    const columns = [...this.columns.values()]
    return new Batch({
      source: this.source,
      tags: this.tags,
      time: BigInt64Array.from(this.times),
      fields: Array.from(this.columns, ([name, { type, unit }]) => ({ name, type, ...(unit && { unit }) })),
      columns: columns.map(column => columnOf(column, rows)),
      validity: columns.map(column => column.rows.length === rows ? null : validityOf(column, rows))
    })
  }
}

/** @param {{type: FieldType, rows: number[], values: unknown[]}} column @param {number} length @returns {Column} */
function columnOf ({ type, rows, values }, length) {
  const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(length)
  if (type in NOTHING && rows.length < length) column.fill(NOTHING[type])
  for (let i = 0; i < rows.length; i++) column[rows[i]] = values[i]
  return column
}

/** @param {{rows: number[]}} column @param {number} length */
function validityOf ({ rows }, length) {
  const valid = new Uint8Array(length)
  for (let i = 0; i < rows.length; i++) valid[rows[i]] = 1
  return valid
}
