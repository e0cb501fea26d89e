import { cellReader, isMissing } from './cells.js'
import { csvRecords } from './file.js'

/** @typedef {import('./columns.js').FieldColumn} FieldColumn */

/** A file is searched no further, so that one of any size begins to play. */
const MAX_SEARCHED_ROWS = 1_000_000

/**
 * The columns with decimals further down than the rows that have decided their types, as float64. One whose whole numbers a float64 cannot
 * tell apart stays as it is.
 * @param {FieldColumn[]} fields
 * @param {string} file
 * @param {{delimited: {encoding: string, delimiter: string}, decimal: string, count: number, isClosed: () => boolean}} options  `count`:
 *   columns
 * @returns {Promise<FieldColumn[]>}
 */
export async function withDecimals (fields, file, { delimited, decimal, count, isClosed }) {
  const readDecimal = cellReader('float64', decimal)
  let whole = fields.filter(({ isGuessed, type }) => isGuessed && type === 'int64')
  /** @type {Set<FieldColumn>} */
  const turned = new Set()
  let rows = 0
  for await (const records of csvRecords(file, delimited)) {
    if (whole.length === 0 || rows > MAX_SEARCHED_ROWS || isClosed()) break
    for (const record of records) {
      if (!('cells' in record) || record.cells.length !== count || rows++ === 0) continue
      whole = whole.filter(field => {
        const text = record.cells[field.index].trim()
        if (isMissing(text, 'int64')) return true
        const value = field.read(text)
        if (value === undefined) {
          if (readDecimal(text) !== undefined) turned.add(field)
          return true
        }
        return Number.isSafeInteger(Number(value))
      })
    }
  }
  return fields.map(field => turned.has(field) && whole.includes(field) ? { ...field, type: 'float64', read: readDecimal } : field)
}
