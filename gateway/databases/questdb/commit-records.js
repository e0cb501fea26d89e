import { createHash } from 'node:crypto'
import { stringText } from '../../messages/codecs/line-protocol/names.js'
import { streamKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { COLUMNS, isText, list, rowOf, valueOf } from '../sql/commit-records.js'
import { text } from './connection.js'

/**
 * Commit records: of two for the same seq, the later one counts. Nothing is ever deleted, as QuestDB deletes no rows: a record that takes
 * the place of others stands beside them.
 *
 * @typedef {import('./connection.js').QuestdbServer} QuestdbServer
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/** What tells streams apart, as one text. @param {import('../commit-records.js').Stream} of */
const hashOf = of => createHash('sha256').update(streamKey(of)).digest('base64url')

/** @param {QuestdbServer} server */
export async function prepareCommits (server) {
  const columns = COLUMNS.map(name => `${list([name])} ${isText(name) ? 'VARCHAR' : 'LONG'}`).join(', ')
  // A record's time is its seq, which keeps those of a stream together.
  await server.query(`CREATE TABLE IF NOT EXISTS ${COMMITS_TABLE} (timestamp TIMESTAMP_NS, of VARCHAR, ${columns}) ` +
    'TIMESTAMP(timestamp) PARTITION BY YEAR WAL DEDUP UPSERT KEYS(timestamp, of)')
}

/**
 * @param {QuestdbServer} server
 * @param {import('../claims.js').Claim[]} [claims]  of whose streams; unless given, of all
 * @returns {Promise<CommitRow[]>}
 */
export async function readCommits (server, claims) {
  await server.settled(COMMITS_TABLE)
  const wanted = claims && [...new Set(claims.map(hashOf))].map(text).join(', ')
  const rows = await server.query(`SELECT ${list(COLUMNS)} FROM ${COMMITS_TABLE}${wanted === undefined ? '' : ` WHERE of IN (${wanted})`}`)
  return rows.map(row => {
    const { sink_table: table, ...record } = Object.fromEntries(COLUMNS.map((name, i) => [name, row[i] ?? '']))
    return rowOf({ table, ...record })
  })
}

/** @param {QuestdbServer} server @param {CommitRow[]} records @param {AbortSignal} [signal] */
export async function writeCommits (server, records, signal) {
  if (records.length > 0) await server.write(records.map(lineOf).join(''), signal)
}

/** @param {CommitRow} record */
function lineOf (record) {
  const cells = COLUMNS.map(name => {
    const value = valueOf(record, name)
    return `${name}=${typeof value === 'string' ? stringText(value).replaceAll('\n', '\\\n') : `${value}i`}`
  })
  return `${COMMITS_TABLE},of=${hashOf(record)} ${cells.join(',')} ${record.seq}\n`
}
