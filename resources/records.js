import { isNumber } from './options.js'
import { say } from './sentences.js'

/**
 * @typedef {import('./options.js').Property} Property
 * @typedef {Record<string, string>} Entry  a row of a table as text, by column
 */

/** What people write in a spreadsheet for yes and no. */
const TRUE = ['true', 'yes', 'on', '1', 'x']
const FALSE = ['false', 'no', 'off', '0', '-']

/**
 * The cells of a CSV file or of a spreadsheet's clipboard as rows of a table. Where the first line names columns, by name or title, the
 * cells go where it says, else to the right of the first column. A choice may have another case or be the form's label; in numbers a comma
 * is the decimal sign where it can be nothing else.
 * @param {{cells: string[][], separator: string}} csv
 * @param {Record<string, Property>} properties  the table's columns
 * @param {number} [firstColumn]  of cells without header
 * @returns {{entries: Entry[], unknown: string[]}} `unknown`: columns which the table does not have
 */
export function entriesOf ({ cells, separator }, properties, firstColumn = 0) {
  const header = headerOf(cells[0] ?? [], properties)
  const lines = header ? cells.slice(1) : cells
  const width = Math.max(0, ...cells.map(line => line.length))
  const names = Array.from({ length: width }, (_, i) => header ? header[i] : Object.keys(properties)[firstColumn + i])
  const isDecimalComma = hasDecimalCommas(lines, separator, names.map(name => name !== undefined && isNumber(properties[name])))

  const isLeftOut = (/** @type {number} */ i) => names[i] === undefined && cells.some(line => (line[i] ?? '').trim() !== '')
  return {
    entries: lines.map(line =>
      Object.fromEntries(
        names.flatMap((name, i) =>
          name === undefined || i >= line.length ? [] : [[name, cellOf(properties[name], line[i].trim(), isDecimalComma)]]
        )
      )
    ),
    unknown: names.flatMap((_, i) => (isLeftOut(i) ? [(header && cells[0][i]?.trim()) || say('column', { n: i + 1 })] : []))
  }
}

/** @param {string[]} line @param {Record<string, Property>} properties @returns {(string|undefined)[]|null} null: it is no header */
function headerOf (line, properties) {
  const nameOf = new Map(Object.entries(properties).flatMap(([name, { title }]) => [[plain(title), name], [plain(name), name]]))
  const names = line.map(cell => nameOf.get(plain(cell)))
  const known = names.filter(name => name !== undefined)
  const isHeader =
    (known.length >= 2 || (known.length === 1 && line.filter(cell => cell.trim() !== '').length === 1)) &&
    new Set(known).size === known.length
  return isHeader ? names : null
}

/** "Heartbeat (ms)", "heartbeat" and "HEARTBEAT" are one. @param {string} header */
function plain (header) {
  return header.replace(/[([].*[)\]]\s*$/, '').replace(/[\s_-]/g, '').toLowerCase()
}

/**
 * A comma between digits may part thousands too. Where semicolons part the cells it does not, as it is the decimal sign of who writes that;
 * elsewhere one such cell must show it.
 * @param {string[][]} lines @param {string} separator @param {boolean[]} isNumeric  by column
 */
function hasDecimalCommas (lines, separator, isNumeric) {
  const numbers = lines.flatMap(line => line.filter((_, i) => isNumeric[i]))
  if (numbers.some(cell => cell.includes('.'))) return false
  return separator === ';' || numbers.some(cell => /^\s*[-+]?\d*,\d+\s*$/.test(cell) && !/^\s*[-+]?[1-9]\d{0,2},\d{3}\s*$/.test(cell))
}

/** @param {Property} property @param {string} cell @param {boolean} isDecimalComma */
function cellOf (property, cell, isDecimalComma) {
  if (property.type === 'boolean') return TRUE.includes(cell.toLowerCase()) ? 'true' : FALSE.includes(cell.toLowerCase()) ? 'false' : cell
  if (isNumber(property)) return isDecimalComma && /^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(cell) ? cell.replace(',', '.') : cell
  return String(
    property.enum?.find(choice =>
      [String(choice), property['x-labels']?.[choice]].some(text => text?.toLowerCase() === cell.toLowerCase())
    ) ?? cell
  )
}
