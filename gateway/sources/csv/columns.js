import { SluiceError } from '../../base/errors.js'
import { QUALITY_FIELD } from '../../batch/quality.js'
import { MAX_COLUMNS } from '../../messages/bounds.js'
import { cellReader, typeOf } from './cells.js'

/**
 * The roles of a CSV file's columns: field, time, tag or source.
 *
 * @typedef {import('./cells.js').CellType} CellType
 * @typedef {{column: string, field: string, type: 'auto'|CellType, unit: string, role: 'field'|'time'|'tag'|'source'}} ColumnOption
 * @typedef {{index: number, name: string, unit: string, type: CellType, isGuessed: boolean,
 *   read: import('./cells.js').ReadCell}} FieldColumn  `isGuessed`: its type, by the first rows
 *
 * @typedef {object} Columns
 * @property {number} count
 * @property {number[]} time  indices; several are joined by a space, a date and a time of day
 * @property {{index: number, name: string}[]} tags
 * @property {number} source  index, or -1
 * @property {FieldColumn[]} fields
 */

const TIME_NAMES = ['time', 'timestamp', 'ts', 'datetime', 'date']

/**
 * @param {string[]} names  of the columns, by the first line
 * @param {string[][]} rows  the first, which decide the types
 * @param {{columns: ColumnOption[], decimal: string, needsTime: boolean}} options
 * @returns {Columns}
 * @throws {SluiceError} SLUICE_CSV_COLUMNS
 */
export function columnsOf (names, rows, { columns, decimal, needsTime }) {
  if (names.length > MAX_COLUMNS) throw columnsError(`There are ${names.length} columns, over ${MAX_COLUMNS}.`, 'Check the separator.')
  const named = names.map((name, index) => name.trim() || `column${index + 1}`)
  const listed = columns.length > 0 ? columns.map(option => ({ ...option, index: indexOf(option.column, named) })) : undefined
  const withRole = (/** @type {string} */ role) => listed?.filter(option => option.role === role) ?? []

  const time = needsTime ? withRole('time').map(({ index }) => index) : []
  if (needsTime && time.length === 0) time.push(timeColumn(named))
  const fields = listed ? withRole('field') : automatic(named.length).filter(({ index }) => !time.includes(index))
  if (fields.length === 0) throw columnsError('No column is a field.', 'Give at least one column the role of a field.')
  const sources = withRole('source')
  if (sources.length > 1) throw columnsError(`${sources.length} columns are the source.`, 'Give one of them the role of a tag.')

  const take = uniqueNames(['time', QUALITY_FIELD])
  return {
    count: names.length,
    time,
    source: sources[0]?.index ?? -1,
    fields: fields.map(({ index, field, type: wanted, unit }) => {
      const type = wanted === 'auto' ? typeOf(rows.map(cells => cells[index]?.trim() ?? ''), decimal) : wanted
      return { index, name: take(field || named[index]), unit, type, isGuessed: wanted === 'auto', read: cellReader(type, decimal) }
    }),
    tags: withRole('tag').map(({ index, field }) => ({ index, name: take(field || named[index]) }))
  }
}

/** Fields as they are without a list of columns. @param {number} count */
function automatic (count) {
  return Array.from({ length: count }, (_, index) => ({ index, field: '', type: /** @type {const} */ ('auto'), unit: '' }))
}

/** @param {string} column  its name, or its number from 1 on @param {string[]} names */
function indexOf (column, names) {
  const wanted = column.trim()
  const matches = [
    names.indexOf(wanted),
    names.findIndex(name => name.toLowerCase() === wanted.toLowerCase()),
    /^\d+$/.test(wanted) ? Number(wanted) - 1 : -1
  ]
  const index = matches.find(match => match >= 0 && match < names.length)
  if (index !== undefined) return index
  throw columnsError(`There is no column "${column}".`, `There are ${names.length}: ${shortList(names)}.`)
}

/** @param {string[]} names */
function timeColumn (names) {
  const lower = names.map(name => name.toLowerCase())
  const name = TIME_NAMES.find(each => lower.includes(each))
  if (name) return lower.indexOf(name)
  throw columnsError(
    `No column is the time: none is named ${TIME_NAMES.join(', ')}.`,
    `Name it in the table of columns, with the role of the time, or choose no times and a rate. The columns are ${shortList(names)}.`
  )
}

/** A function that returns a name, with a number where it is in use. @param {string[]} taken */
function uniqueNames (taken) {
  const names = new Set(taken)
  /** Where to go on: trying all numbers for each of many columns would take quadratic time. @type {Map<string, number>} */
  const numbers = new Map()
  return (/** @type {string} */ name) => {
    let unique = name
    let number = numbers.get(name) ?? 2
    for (; names.has(unique); number++) unique = `${name}_${number}`
    numbers.set(name, number)
    names.add(unique)
    return unique
  }
}

/** @param {string[]} names */
function shortList (names) {
  return names.slice(0, 20).join(', ') + (names.length > 20 ? ', …' : '')
}

/** @param {string} message @param {string} fix */
function columnsError (message, fix) {
  return new SluiceError('SLUICE_CSV_COLUMNS', message, { fix })
}
