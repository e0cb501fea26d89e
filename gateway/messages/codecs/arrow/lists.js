import { COLUMN_TYPES, NOTHING } from '../../../batch/batch.js'
import { CellBudget, MAX_FIELDS } from '../../bounds.js'
import { Type, arrowError } from './format.js'

/**
 * Lists: each of their elements becomes a field of its own, `name0`, `name1`, …, as of an array in JSON.
 *
 * @typedef {import('../../../batch/batch.js').Column} Column
 * @typedef {import('../../../batch/batch.js').Field} Field
 * @typedef {import('./columns.js').ColumnKind} ColumnKind
 *
 * @typedef {object} Lists  of one record batch
 * @property {(row: number) => number} startOf  where the elements of a row begin: they end where those of the next one do
 * @property {number} rows
 * @property {Uint8Array|null} valid  of the lists themselves
 * @property {Column} elements
 * @property {Uint8Array|null} elementValid
 * @property {number} width  elements of the longest
 *
 * @typedef {{field: Field, column: Column, valid: Uint8Array|null}} Spread
 */

/**
 * @param {number} typeType @param {import('./flatbuffer.js').Table|null} type @param {ColumnKind} element
 * @returns {ColumnKind}
 */
export function listKind (typeType, type, element) {
  const size = typeType === Type.fixedSizeList ? type?.int32(0) ?? 0 : null
  if (size !== null && size < 0) throw arrowError(`lists of ${size} values`)
  /** @type {import('./columns.js').ReadColumn} */
  const read = (body, rows, valid) => {
    const startOf = size === null ? variableStarts(body, rows, typeType === Type.largeList) : (/** @type {number} */ row) => row * size
    const { column: elements, valid: elementValid } = body.elements(element.read, at => {
      const row = rowOf(at, startOf, rows)
      return valid && !valid[row] ? -1 : row
    })
    const count = rows > 0 ? startOf(rows) : 0
    if (count > elements.length) throw arrowError(`lists of ${count} values, of which ${elements.length} are there`)
    const width = size ?? longest(rows, startOf, valid)
    return /** @type {any} */ ([{ startOf, rows, valid, elements, elementValid, width }])
  }
  return { type: element.type, unit: element.unit, isList: true, read }
}

/**
 * The batch's columns where some are lists. A list that has no room is refused alone.
 * @param {Field[]} fields
 * @param {{column: Column|Lists[], valid: Uint8Array|null}[]} columns
 * @param {boolean[]} areLists
 * @param {number} rows
 * @param {(reason: string, name: string) => void} refuse
 */
export function spreadLists (fields, columns, areLists, rows, refuse) {
  const names = new Set(fields.filter((_, f) => !areLists[f]).map(({ name }) => name))
  const budget = new CellBudget()
  /** @type {Spread[]} */
  const spread = []
  fields.forEach((field, f) => {
    const { column, valid } = columns[f]
    if (!areLists[f]) return spread.push({ field, column: /** @type {Column} */ (column), valid })
    const lists = /** @type {Lists[]} */ (column)
    const width = lists.reduce((most, list) => Math.max(most, list.width), 0)
    const elements = Array.from({ length: Math.min(width, MAX_FIELDS) }, (_, i) => ({ ...field, name: `${field.name}${i}` }))
    const reason = whyNot(elements, width, names) ?? budget.take(lists.reduce((sum, list) => sum + list.elements.length, 0), rows * width)
    if (reason) return refuse(`column "${field.name}" is a list: ${reason}`, field.name)
    for (const { name } of elements) names.add(name)
    return spread.push(...spreadList(elements, lists, rows))
  })
  return spread
}

/** @param {Field[]} elements @param {number} width  how many they would be @param {Set<string>} names  of the other fields */
function whyNot (elements, width, names) {
  if (names.size + width > MAX_FIELDS) return `with its ${width} values the row would have more than ${MAX_FIELDS} fields`
  const taken = elements.find(({ name }) => names.has(name))
  return taken ? `two fields would be called "${taken.name}"` : null
}

/** @param {Field[]} elements @param {Lists[]} lists @param {number} rows @returns {Spread[]} */
function spreadList (elements, lists, rows) {
  const columns = elements.map(({ type }) => {
    const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(rows)
    return { column: type in NOTHING ? column.fill(NOTHING[type]) : column, valid: new Uint8Array(rows) }
  })
  let first = 0
  for (const { startOf, rows: count, valid, elements: values, elementValid } of lists) {
    for (let row = 0; row < count; row++) {
      if (valid && !valid[row]) continue
      const start = startOf(row)
      const end = startOf(row + 1)
      for (let at = start; at < end; at++) {
        if (elementValid && !elementValid[at]) continue
        columns[at - start].column[first + row] = values[at]
        columns[at - start].valid[first + row] = 1
      }
    }
    first += count
  }
  return columns.map(({ column, valid }, i) => ({ field: elements[i], column, valid: valid.includes(0) ? valid : null }))
}

/** @param {import('./body.js').Body} body @param {number} rows @param {boolean} areLarge @returns {Lists['startOf']} */
function variableStarts (body, rows, areLarge) {
  const offsets = areLarge ? Float64Array.from(body.array(BigInt64Array), Number) : body.array(Int32Array)
  if (rows > 0 && offsets.length <= rows) throw arrowError(`${offsets.length} offsets for ${rows} lists`)
  for (let row = 0; row < rows; row++) {
    if (!(offsets[row] >= 0 && offsets[row] <= offsets[row + 1])) throw arrowError(`a list from ${offsets[row]} to ${offsets[row + 1]}`)
  }
  return row => offsets[row]
}

/** Which list an element is of. @param {number} at @param {Lists['startOf']} startOf @param {number} rows */
function rowOf (at, startOf, rows) {
  let low = 0
  let high = rows
  while (low < high) {
    const middle = (low + high) >> 1
    if (startOf(middle + 1) > at) high = middle
    else low = middle + 1
  }
  return low < rows && startOf(low) <= at ? low : -1
}

/** @param {number} rows @param {Lists['startOf']} startOf @param {Uint8Array|null} valid */
function longest (rows, startOf, valid) {
  let most = 0
  for (let row = 0; row < rows; row++) {
    if (!valid || valid[row]) most = Math.max(most, startOf(row + 1) - startOf(row))
  }
  return most
}
