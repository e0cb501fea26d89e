import { rangesOf } from '../claims.js'
import { streamKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { cellsOf, COLUMNS, isText, KEY, list, rowOf, valueOf } from '../sql/commit-records.js'
import { isMissing } from './connection.js'
import { writeAll } from './write.js'

/**
 * Commit records, a partition for each table, gateway, source and epoch. A record never changes: one that takes the place of others is
 * another row, since of two versions of a row the one that counts would be chosen by the clocks of servers.
 *
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

const STREAM = KEY.slice(0, 4)
const OF_STREAM = STREAM.map(name => `${name} = ?`).join(' AND ')
const SELECT = `SELECT sink_table AS "table", ${list(COLUMNS.slice(1))}`

/** @param {Claim} of */
const streamOf = of => STREAM.map(name => valueOf(of, name))

/** @param {Client} client @param {CassandraServer} server */
export async function prepareCommits (client, server) {
  if ((await server.columnsOf(client, COMMITS_TABLE)).length > 0) return
  const columns = COLUMNS.map(name => `${list([name])} ${isText(name) ? 'text' : 'bigint'}`).join(', ')
  // A record that comes back after it was merged into another does no harm.
  const create = `CREATE TABLE IF NOT EXISTS ${server.nameOf(COMMITS_TABLE)} (${columns}, store text, ` +
    `PRIMARY KEY ((${STREAM.join(', ')}), last, seq)) WITH ${server.idOf(COMMITS_TABLE)} AND comment = 'Sluice' ` +
    'AND gc_grace_seconds = 3600'
  try {
    await client.execute(create)
  } catch (error) {
    if (!isMissing(error)) throw error
    await server.createKeyspace(client)
    await client.execute(create)
  }
}

/** @param {Client} client @param {CassandraServer} server @returns {Promise<CommitRow[]>} */
export async function readCommits (client, server) {
  const rows = []
  for await (const { store, ...row } of await client.execute(`${SELECT}, store FROM ${server.nameOf(COMMITS_TABLE)}`)) {
    rows.push({ ...rowOf(row), ...store !== null && { gateway: store } })
  }
  return rows
}

/**
 * Names the database where it has no name: the one thing that several must agree on.
 * @param {Client} client
 * @param {CassandraServer} server
 * @param {string} id
 */
export async function nameStore (client, server, id) {
  const values = COLUMNS.map(name => isText(name) ? '\'\'' : '0').join(', ')
  await client.execute(`INSERT INTO ${server.nameOf(COMMITS_TABLE)} (${list(COLUMNS)}, store) VALUES (${values}, ?) IF NOT EXISTS`, [id])
}

/** Those that hold these, among others. @param {Client} client @param {CassandraServer} server @param {Claim[]} claims */
export async function findCommits (client, server, claims) {
  const select = `${SELECT} FROM ${server.nameOf(COMMITS_TABLE)} WHERE ${OF_STREAM} AND last >= ? LIMIT ?`
  const found = await Promise.all(rangesOf(claims).flatMap(({ stream, ranges }) => ranges.map(async ([first, last]) => {
    const { rows } = await client.execute(select, [...streamOf(stream), BigInt(first), last - first + 2])
    return rows.map(rowOf)
  })))
  return /** @type {CommitRow[]} */ (found.flat())
}

/** @param {Client} client @param {CassandraServer} server @param {CommitRow[]} records */
export async function insertCommits (client, server, records) {
  const query = `INSERT INTO ${server.nameOf(COMMITS_TABLE)} (${list(COLUMNS)}) VALUES (${COLUMNS.map(() => '?').join(', ')})`
  const streams = Map.groupBy(records, streamKey).values()
  await writeAll(client, Array.from(streams, its => its.map(record => ({ query, params: cellsOf(record) }))))
}

/** @param {Client} client @param {CassandraServer} server @param {CommitRow[]} merged */
export async function mergeCommits (client, server, merged) {
  await insertCommits(client, server, merged)
  const remove = `DELETE FROM ${server.nameOf(COMMITS_TABLE)} WHERE ${OF_STREAM} AND`
  for (const record of merged) {
    const [seq, last] = [record.seq, record.last].map(BigInt)
    await client.execute(`${remove} last >= ? AND last < ?`, [...streamOf(record), seq, last])
    await client.execute(`${remove} last = ? AND seq > ?`, [...streamOf(record), last, seq])
  }
}
