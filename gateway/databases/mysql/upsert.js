import { EPOCH, SEQ } from '../upsert/layout.js'
import { keyOf, noKey } from '../upsert/sql.js'
import { misfit } from '../wide.js'
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
  const isUnstaged = `VALUES(${EPOCH}) < 0`
  const isNewer = `(${isUnstaged} AND VALUES(${EPOCH}) <> ${EPOCH}) OR (VALUES(${EPOCH}), VALUES(${SEQ})) > (${EPOCH}, ${SEQ})`
  const assigned = [...names.filter(name => name !== EPOCH && name !== SEQ), SEQ]
    .map(name => `${quote(name)} = IF(${isNewer}, VALUES(${quote(name)}), ${quote(name)})`)
  const epoch = `IF(${isUnstaged}, VALUES(${EPOCH}), GREATEST(${EPOCH}, VALUES(${EPOCH})))`
  return ` ON DUPLICATE KEY UPDATE ${assigned.join(', ')}, ${EPOCH} = ${epoch}`
}

/**
 * Collations in which each text equals itself alone: in others "a" and "a ", or "A", are one key. Servers before MariaDB 10.2 and MySQL
 * 8.0.17 have none, and `utf8mb4_bin` comes nearest.
 */
const EXACT = ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin']
const NEAREST = 'utf8mb4_bin'

const READ_COLLATIONS = `SELECT COLLATION_NAME AS name FROM information_schema.COLLATIONS
  WHERE COLLATION_NAME IN ('${EXACT.join('\', \'')}')`

/** The collation that the texts of a key need. @param {import('./session.js').Connection} connection @returns {Promise<string>} */
export async function keyCollation (connection) {
  const [[found]] = /** @type {[any[], any]} */ (await connection.query(READ_COLLATIONS))
  return found?.name ?? NEAREST
}

/** The unique indexes of a table, with their columns. */
const READ_KEYS = `
  SELECT s.INDEX_NAME AS name, s.COLUMN_NAME AS columnName, s.SUB_PART AS part, c.COLLATION_NAME AS collation
  FROM information_schema.STATISTICS s JOIN information_schema.COLUMNS c
    ON c.TABLE_SCHEMA = s.TABLE_SCHEMA AND c.TABLE_NAME = s.TABLE_NAME AND c.COLUMN_NAME = s.COLUMN_NAME
  WHERE s.TABLE_SCHEMA = DATABASE() AND s.TABLE_NAME = ? AND s.NON_UNIQUE = 0`

/**
 * Whether rows are found by the key, and by nothing else: any other unique index would make the server replace the row of another key.
 * @param {import('./session.js').Connection} connection
 * @param {string} table
 * @param {{name: string}[]} key
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function checkKey (connection, table, key) {
  const [found] = /** @type {[any[], any]} */ (await connection.execute(READ_KEYS, [table]))
  const wanted = key.map(({ name }) => name).sort().join('\n')
  const indexes = [...Map.groupBy(found, ({ name }) => name).values()]
  const isIt = indexes.length === 1 && indexes[0].every(({ part }) => part === null) &&
    indexes[0].map(({ columnName }) => columnName).sort().join('\n') === wanted
  if (!isIt) throw noKey(table, key)
  const exact = await keyCollation(connection)
  const vague = found.find(({ collation }) => collation !== null && ![exact, ...EXACT, 'binary'].includes(collation))
  if (!vague) return
  throw misfit(table, `its key ${quote(vague.columnName)} has the collation ${vague.collation}, in which texts that differ can be one key`,
    `Set another table, which is created with an exact one; or change the column's to ${exact}.`)
}
