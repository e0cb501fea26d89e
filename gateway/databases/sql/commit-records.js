import { RECORD_NUMBERS } from '../commit-records.js'

/**
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/** What a record is known by, all that it holds, and what changes when others are merged into it, by the names of its columns. */
export const KEY = Object.freeze(['sink_table', 'gateway', 'source', 'epoch', 'seq'])
export const COLUMNS = Object.freeze([...KEY.slice(0, 4), ...RECORD_NUMBERS])
export const MERGED = Object.freeze(['last', 'hash', 'staged', 'stored', 'dead'])

/** Columns in SQL: `before` is a word of its own there. @type {(names: readonly string[], prefix?: string) => string} */
export const list = (names, prefix = '') => names.map(name => prefix + (name === 'before' ? '"before"' : name)).join(', ')

/** Whether a column holds a name. @param {string} column */
export const isText = column => KEY.slice(0, 4).includes(column)

/** A column of a record. @param {CommitRow|Claim} record @param {string} column @returns {string|number} */
export const valueOf = (record, column) => /** @type {any} */ (record)[column === 'sink_table' ? 'table' : column]

/** All columns of a record, numbers as BigInt. @param {CommitRow} record */
export const cellsOf = record => COLUMNS.map(name => isText(name) ? String(valueOf(record, name)) : BigInt(valueOf(record, name)))

/** Columns of a record, as parameters by name. @param {CommitRow|Claim} record @param {readonly string[]} columns */
export function named (record, columns) {
  return Object.fromEntries(columns.map(column => [column, valueOf(record, column)]))
}

/** A row of the table, or some of its columns: its numbers as such. @param {any} row */
export function rowOf (row) {
  const record = { ...row }
  for (const name of RECORD_NUMBERS) if (name in record) record[name] = Number(record[name])
  return record
}

/**
 * The statements about commit records that databases have in common which know a record by the names themselves.
 * @param {string} table  quoted
 * @param {{text: string, integer: string}} types  that columns of names and of numbers are declared as; names are compared exactly
 */
export function commitStatements (table, { text, integer }) {
  const epoch = KEY.slice(0, 4).map(name => `${name} = $${name}`).join(' AND ')
  const declarations = COLUMNS.map(name => `${list([name])} ${isText(name) ? text : integer} NOT NULL`).join(', ')
  return {
    create: `CREATE TABLE IF NOT EXISTS ${table} (${declarations}, PRIMARY KEY (${list(KEY)}))`,
    read: `SELECT sink_table AS "table", ${list(COLUMNS.slice(1))} FROM ${table}`,
    /** Names the database, where it has no name. */
    nameStore: `INSERT INTO ${table} SELECT '', $id, '', '', 0, 0, 0, 0, 0, 0, 0
      WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE sink_table = '')`,
    /** Turns a record into one whose rows are stored under an earlier identity. */
    move: `UPDATE ${table} SET staged = 0, stored = 0, dead = 0 WHERE ${epoch} AND seq = $seq`,
    /** Both in this order: a range takes the place of those within it. */
    absorb: `DELETE FROM ${table} WHERE ${epoch} AND seq > $seq AND last <= $last`,
    extend: `UPDATE ${table} SET ${MERGED.map(name => `${name} = $${name}`).join(', ')} WHERE ${epoch} AND seq = $seq`
  }
}
