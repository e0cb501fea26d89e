import { SluiceError } from '../base/errors.js'
import { RefusedRows } from './refusal.js'

/**
 * Values that a database cannot hold, or would take for others.
 *
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {(column: any) => number[]} Unfit  the rows with such values, which need not be valid
 */

const LEAST = -(2n ** 63n)

/** @template T @param {ArrayLike<T>} column @param {(value: T) => boolean} test */
export function rowsWhere (column, test) {
  const found = []
  for (let row = 0; row < column.length; row++) if (test(column[row])) found.push(row)
  return found
}

/** @type {Unfit} */
export const infinite = column => column.includes(Infinity) || column.includes(-Infinity)
  ? rowsWhere(column, value => value === Infinity || value === -Infinity)
  : []

/** Of 64 bits, where that is NULL. @type {Unfit} */
export const least = column => column.includes(LEAST) ? rowsWhere(column, value => value === LEAST) : []

/**
 * @param {import('../batch/batch.js').Batch[]} batches
 * @param {object} database
 * @param {string} database.product
 * @param {Partial<Record<FieldType, Unfit>>} database.fields
 * @param {Unfit} [database.times]
 * @param {(value: any) => string} [database.say]  what is wrong with a value
 * @throws {RefusedRows}
 */
export function refuseUnfit (batches, { product, fields, times, say = value => `is ${value}` }) {
  const faults = batches.flatMap(batch => {
    /** @type {Map<number, string>} */
    const problems = new Map()
    for (const [f, { name, type }] of batch.fields.entries()) {
      const column = batch.columns[f]
      for (const row of fields[type]?.(column) ?? []) {
        if (batch.validity[f]?.[row] !== 0) problems.set(row, `The field "${name}" ${say(column[row])}, which ${product} cannot hold.`)
      }
    }
    for (const row of times?.(batch.time) ?? []) {
      problems.set(row, `The time ${batch.time[row]} is outside the range that ${product} has.`)
    }
    return Array.from(problems, ([row, text]) => ({ batch, row, error: new SluiceError('SLUICE_SINK_ROWS', text) }))
  })
  if (faults.length > 0) throw new RefusedRows(faults)
}
