import { types } from 'node:util'
import { MAX_FIELDS } from './bounds.js'
import { nameFault, quoted } from './gatherer.js'

/**
 * The values of a row, one by one, with their types.
 *
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {import('./series.js').Cell} Cell
 */

export const TOO_MANY_FIELDS = `there are more than ${MAX_FIELDS} fields`

/**
 * Those that are there and can be stored; one more than a row may have where there are too many.
 * @param {string[]} names @param {Record<string, unknown>} values  by name
 * @param {(reason: string, value: unknown) => void} refuse  is told of the others
 */
export function cellsOf (names, values, refuse) {
  /** @type {Cell[]} */
  const cells = []
  for (const name of names) {
    const value = values[name]
    if (value == null) continue
    const type = typeOf(value)
    const reason = type ? nameFault(name) : whyNot(value)
    if (reason) refuse(`${quoted(name)} ${reason}`, value)
    else if (cells.push({ name, type: /** @type {FieldType} */ (type), value }) > MAX_FIELDS) break
  }
  return cells
}

/** The type a value is stored in; null when it cannot be. @param {unknown} value @returns {FieldType|null} */
export function typeOf (value) {
  switch (typeof value) {
    case 'number': return Number.isFinite(value) ? 'float64' : null
    case 'bigint': return BigInt.asIntN(64, value) === value ? 'int64' : null
    case 'boolean': return 'bool'
    case 'string': return 'string'
    default: return types.isUint8Array(value) ? 'bytes' : null
  }
}

/** @param {unknown} value  that has no type */
export function whyNot (value) {
  switch (typeof value) {
    case 'number': return `is ${value}: treated as missing`
    case 'bigint': return 'does not fit a 64-bit integer'
    case 'object': return `is an ${Array.isArray(value) ? 'array' : 'object'}: send its values as fields of their own`
    default: return `is a ${typeof value}`
  }
}
