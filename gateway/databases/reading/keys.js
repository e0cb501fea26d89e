import { SluiceError } from '../../base/errors.js'
import { UPSERT_COLUMNS } from '../upsert/layout.js'
import { tagColumnOf } from '../wide.js'

/**
 * What reading by key has in common, whatever the database.
 *
 * @typedef {import('../reader.js').KeyValue} KeyValue
 */

/** Columns that say which row is newer, and whose it is; of times, the exact one is shown. */
export const HIDDEN = [...UPSERT_COLUMNS, 'sluice_row']

/** Kinds of columns, in whichever dialect, whose values are texts, and whole numbers. */
const TEXT = /char|text|clob|string/i
const WHOLE = /int/i

/**
 * Where the sink has put a field or tag.
 * @template {{name: string}} Column
 * @param {string} name
 * @param {Column[]} columns
 * @param {readonly string[]} ownNames  of columns that hold no field or tag
 * @param {string} table  for the message
 * @returns {Column}
 * @throws {SluiceError} SLUICE_QUERY_TABLE
 */
export function keyColumn (name, columns, ownNames, table) {
  const places = ownNames.includes(name) ? [`${name}~field`, tagColumnOf(name), name] : [name, tagColumnOf(name)]
  const found = places.map(place => columns.find(column => column.name === place)).find(column => column !== undefined)
  if (found) return found
  throw new SluiceError('SLUICE_QUERY_TABLE', `The table ${table} has no column "${name.replaceAll('"', '""')}".`, {
    fix: 'Correct the key, or the table.'
  })
}

/**
 * A value as a column's can be compared with it, whatever it came as; undefined where none equals it.
 * @param {string} kind
 * @param {KeyValue} value
 * @returns {KeyValue|undefined}
 */
export function asIn (kind, value) {
  if (TEXT.test(kind)) return String(value)
  const isNumber = typeof value !== 'string' || (WHOLE.test(kind) && /^(0|-?[1-9]\d{0,18})$/.test(value))
  if (!isNumber) return WHOLE.test(kind) ? undefined : value
  const number = BigInt(value)
  return BigInt.asIntN(64, number) === number ? number : undefined
}
