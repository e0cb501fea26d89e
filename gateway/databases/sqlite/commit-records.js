import { COMMITS_TABLE, quote } from '../names.js'
import { COLUMNS, commitStatements, KEY, list, valueOf } from '../sql/commit-records.js'

/**
 * The commit records of one file: a statement for each, as there is no server to wait for.
 *
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

const TABLE = quote(COMMITS_TABLE)

export const commits = commitStatements(TABLE, { text: 'TEXT', integer: 'INTEGER' })
commits.create += ' WITHOUT ROWID'

const INSERT = `INSERT INTO ${TABLE} (${list(COLUMNS)}) VALUES (${COLUMNS.map(() => '?').join(', ')})`

/** Ranges are disjoint, so only the nearest record at or below can hold a batch's seq. */
const NEAREST = `${commits.read} WHERE ${KEY.slice(0, 4).map(name => `${name} = ?`).join(' AND ')} AND seq <= ? ORDER BY seq DESC LIMIT 1`

/** @typedef {(sql: string) => import('node:sqlite').StatementSync} Prepare  a statement, prepared once */

/** The records that may hold these. @param {Prepare} prepare @param {Claim[]} claims */
export function findCommits (prepare, claims) {
  const nearest = prepare(NEAREST)
  return claims.flatMap(claim => nearest.all(...KEY.map(column => valueOf(claim, column))))
}

/** @param {Prepare} prepare @param {CommitRow[]} records */
export function insertCommits (prepare, records) {
  const insert = prepare(INSERT)
  for (const record of records) insert.run(...COLUMNS.map(column => valueOf(record, column)))
}
