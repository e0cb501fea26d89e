import { EPOCH, SEQ } from '../upsert/layout.js'
import { keyOf } from '../upsert/sql.js'
import { quote } from './dialect.js'

/** @typedef {import('./tables.js').Plan} Plan */

/**
 * The end of an INSERT: whole rows are replaced, what they lack too, by newer ones. Assignments are done in their order, each seeing those
 * before it: what is compared comes last, and where the row was newer, its epoch is not less.
 * @param {Plan} plan
 */
export function onDuplicate ({ columns, rest = [] }) {
  const key = keyOf(columns)
  if (key.length === 0) return ''
  const names = [...columns.filter(column => !key.includes(column)), ...rest].map(({ name }) => name)
  const isNewer = `VALUES(${EPOCH}) = 0 OR (VALUES(${EPOCH}), VALUES(${SEQ})) > (${EPOCH}, ${SEQ})`
  const assigned = [...names.filter(name => name !== EPOCH && name !== SEQ), SEQ]
    .map(name => `${quote(name)} = IF(${isNewer}, VALUES(${quote(name)}), ${quote(name)})`)
  return ` ON DUPLICATE KEY UPDATE ${assigned.join(', ')}, ${EPOCH} = GREATEST(${EPOCH}, VALUES(${EPOCH}))`
}

/** The unique indexes of a table, with their columns. */
const READ_KEYS = `
  SELECT INDEX_NAME AS name, COLUMN_NAME AS columnName, SUB_PART AS part FROM information_schema.STATISTICS
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND NON_UNIQUE = 0`

/**
 * Whether rows are found by the key, and by nothing else: any other unique index would make the server replace the row of another key.
 * @param {import('./session.js').Connection} connection
 * @param {string} table
 * @param {{name: string}[]} key
 */
export async function hasKey (connection, table, key) {
  const [found] = /** @type {[any[], any]} */ (await connection.execute(READ_KEYS, [table]))
  const wanted = key.map(({ name }) => name).sort().join('\n')
  const indexes = [...Map.groupBy(found, ({ name }) => name).values()]
  return indexes.length === 1 && indexes[0].every(({ part }) => part === null) &&
    indexes[0].map(({ columnName }) => columnName).sort().join('\n') === wanted
}
