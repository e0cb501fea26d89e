import { misfit } from '../wide.js'

/** What to do about a table of another layout. */
export const ANOTHER_TABLE = 'Set another table: each layout needs one of its own.'

/**
 * Whether the rows of a table are told apart by what the sink's have, and by nothing else.
 * @param {string} name
 * @param {{name: string, isKey: boolean}[]} columns  none of a table that does not exist
 * @param {string[]} keys
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export function checkRowKey (name, columns, keys) {
  const its = columns.filter(({ isKey }) => isKey).map(column => column.name)
  if (columns.length === 0 || String(its.sort()) === String(keys.toSorted())) return
  throw misfit(name, `its rows are not told apart by ${keys.join(', ')}`, ANOTHER_TABLE)
}
