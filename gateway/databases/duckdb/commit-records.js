import { rangesOf } from '../claims.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { COLUMNS, commitStatements, isText, KEY, valueOf } from '../sql/commit-records.js'

/**
 * The commit records of one file. A statement costs more than the rows it looks at: there is one for all.
 *
 * @typedef {import('./instance.js').Session} Session
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

export const commits = commitStatements(quote(COMMITS_TABLE), { text: 'VARCHAR', integer: 'BIGINT' })

/** The records that hold these. @param {Session} session @param {Claim[]} claims  at least one */
export function findCommits ({ run }, claims) {
  /** @type {any[]} */
  const values = []
  const conditions = rangesOf(claims).map(({ stream, ranges }) => {
    const names = KEY.slice(0, 4).map(name => `${name} = $${values.push(valueOf(stream, name))}`)
    const held = ranges.map(([first, last]) => `(seq <= ${last} AND last >= ${first})`)
    return `(${names.join(' AND ')} AND (${held.join(' OR ')}))`
  })
  return run(`${commits.read} WHERE ${conditions.join(' OR ')}`, values)
}

/** @param {Session} session @param {CommitRow[]} records */
export async function insertCommits ({ connection }, records) {
  const appender = await connection.createAppender(COMMITS_TABLE)
  try {
    for (const record of records) {
      for (const column of COLUMNS) {
        if (isText(column)) appender.appendVarchar(String(valueOf(record, column)))
        else appender.appendBigInt(BigInt(valueOf(record, column)))
      }
      appender.endRow()
    }
    appender.closeSync()
  } catch (error) {
    appender.clear() // otherwise it would append the rest when it is garbage, in whatever transaction there is then
    throw error
  }
}
