/**
 * What JSON and its like know is only numbers. They are float64 here, and int64 beyond 2^53; where both come in one column, it becomes the
 * type that holds all of them exactly: int64 where none has decimals, otherwise float64.
 *
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {{type: FieldType, values: unknown[], isBound?: boolean}} NumberColumn  `isBound`: it has a value that the other type does not
 *   hold
 */

/** To be told of each value that comes into a column, before. @param {NumberColumn} column @param {unknown} value */
export function note (column, value) {
  if (column.isBound) return
  if (column.type === 'float64') column.isBound = !isWhole(value)
  else if (column.type === 'int64') column.isBound = !isFloat(value)
}

/**
 * Makes a column and a cell for it one type.
 * @param {NumberColumn} column @param {{type: FieldType, value: unknown}} cell
 * @returns {boolean} false: there is none
 */
export function isMadeAlike (column, cell) {
  const { value } = cell
  if (column.type === 'float64' && cell.type === 'int64') {
    if (!column.isBound) return become(column, 'int64', column.values.map(whole => BigInt(/** @type {number} */ (whole))))
    return isFloat(value) && Boolean(Object.assign(cell, { type: 'float64', value: Number(value) }))
  }
  if (column.type !== 'int64' || cell.type !== 'float64') return false
  if (isWhole(value)) return Boolean(Object.assign(cell, { type: 'int64', value: BigInt(/** @type {number} */ (value)) }))
  if (column.isBound) return false
  column.isBound = true
  return become(column, 'float64', column.values.map(Number))
}

/** @param {NumberColumn} column @param {FieldType} type @param {unknown[]} values */
function become (column, type, values) {
  column.type = type
  column.values = values
  return true
}

/** Whether int64 holds a number exactly. @param {unknown} value */
export function isWhole (value) {
  return Number.isSafeInteger(value) && !Object.is(value, -0)
}

/** Whether float64 holds an integer exactly. @param {unknown} value */
function isFloat (value) {
  return BigInt(Number(value)) === value
}
