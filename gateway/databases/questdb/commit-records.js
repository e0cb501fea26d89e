import { createHash } from 'node:crypto'
import { stringText } from '../../messages/codecs/line-protocol/names.js'
import { streamKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { text } from './connection.js'

/**
 * Commit records: of two for the same seq, the later one counts. Nothing is ever deleted, as QuestDB deletes no rows: a record that takes
 * the place of others stands beside them. A record is one text of JSON, as each column is files of their own that are synced one by one.
 *
 * @typedef {import('./connection.js').QuestdbServer} QuestdbServer
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/** What tells streams apart, as a UUID. @param {import('../commit-records.js').Stream} of */
const hashOf = of => {
  const hash = createHash('sha256').update(streamKey(of)).digest('hex')
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => hash.slice(from, to)).join('-')
}

/** @param {QuestdbServer} server */
export async function prepareCommits (server) {
  // A record's time is its seq, which keeps those of a stream together.
  await server.query(`CREATE TABLE IF NOT EXISTS ${COMMITS_TABLE} (timestamp TIMESTAMP_NS, of UUID, record VARCHAR) ` +
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
  const rows = await server.query(`SELECT record FROM ${COMMITS_TABLE}${wanted === undefined ? '' : ` WHERE of IN (${wanted})`}`)
  return rows.map(([record]) => JSON.parse(record))
}

/** @param {QuestdbServer} server @param {CommitRow[]} records @param {AbortSignal} [signal] */
export async function writeCommits (server, records, signal) {
  if (records.length > 0) await server.write(records.map(lineOf), signal)
}

/** @param {CommitRow} record */
function lineOf (record) {
  return `${COMMITS_TABLE} of="${hashOf(record)}",record=${stringText(JSON.stringify(record))} ${record.seq}\n`
}
