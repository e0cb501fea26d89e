import { streamHash } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { cellsOf, COLUMNS, isText, rowOf } from '../sql/commit-records.js'
import { isRefused } from './connection.js'
import { load } from './load.js'
import { rowBytes, Table, TYPE } from './protocol.js'

/**
 * Commit records, a partition for each table, gateway, source and epoch.
 *
 * @typedef {import('./connection.js').Session} Session
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

const PAGE_ROWS = 10_000

const LAYOUT = ['stream_hash', ...COLUMNS].map((name, i) => ({ name, type: i === 0 || isText(name) ? TYPE.varchar : TYPE.bigint }))

/** @param {Session} session */
export async function prepareCommits (session) {
  const columns = COLUMNS.map(name => `${name} ${isText(name) ? 'VARCHAR(65536 BYTES)' : 'BIGINT'} NOT NULL`).join(', ')
  const isThere = () => session.query(`SELECT seq FROM ${COMMITS_TABLE} LIMIT 1`).then(() => true, error => {
    if (isRefused(error, /object not found/i)) return false
    throw error
  })
  if (await isThere()) return
  try {
    await session.query(`CREATE TABLE ${COMMITS_TABLE} (stream_hash VARCHAR(43 BYTES) NOT NULL, ${columns}, ` +
      `PRIMARY KEY (stream_hash, seq)); PARTITION TABLE ${COMMITS_TABLE} ON COLUMN stream_hash;`)
  } catch (error) {
    if (!await isThere()) throw error
  }
}

/**
 * @param {Session} session
 * @param {import('../claims.js').Claim[]} [claims]  of whose streams; unless given, of all
 * @returns {Promise<CommitRow[]>}
 */
export async function readCommits (session, claims) {
  const hashes = claims && [...new Set(claims.map(streamHash))]
  const pages = hashes ? await Promise.all(hashes.map(hash => readPages(session, hash))) : [await readPages(session)]
  return pages.flat().map(([, table, ...cells]) => {
    return rowOf({ table, ...Object.fromEntries(COLUMNS.slice(1).map((name, i) => [name, cells[i]])) })
  })
}

/** @param {Session} session @param {string} [hash]  of a stream; unless given, of all */
async function readPages (session, hash) {
  const select = `SELECT stream_hash, ${COLUMNS.join(', ')} FROM ${COMMITS_TABLE}`
  const [where, names] = hash === undefined
    ? ['stream_hash > ? OR (stream_hash = ? AND seq > ?)', ['of', 'of', 'seq']]
    : ['stream_hash = ? AND seq > ?', ['of', 'seq']]
  const found = []
  for (let last = /** @type {Record<string, any>} */ ({ of: hash ?? '', seq: -1n }); ;) {
    const page = await session.query(`${select} WHERE ${where} ORDER BY stream_hash, seq LIMIT ${PAGE_ROWS}`, names.map(name => last[name]))
    for (const row of page) found.push(row)
    if (page.length < PAGE_ROWS) return found
    const row = found.at(-1) ?? []
    last = { of: row[0], seq: row[1 + COLUMNS.indexOf('seq')] }
  }
}

/**
 * @param {Session} session
 * @param {CommitRow[]} records
 * @param {AbortSignal} [signal]
 * @returns {Promise<CommitRow[]>} those that were there already
 */
export async function insertCommits (session, records, signal) {
  const late = await Promise.all(Array.from(Map.groupBy(records, streamHash), async ([hash, its]) => {
    if (await put(session, hash, its, { isNew: true, signal })) return []
    const there = []
    for (const record of its) if (!await put(session, hash, [record], { isNew: true, signal })) there.push(record)
    return there
  }))
  return late.flat()
}

/** @param {Session} session @param {CommitRow[]} merged */
export async function mergeCommits (session, merged) {
  for (const record of merged) {
    const hash = streamHash(record)
    await put(session, hash, [record], { isNew: false })
    await session.query(`DELETE FROM ${COMMITS_TABLE} WHERE stream_hash = ? AND seq > ? AND last <= ?`,
      [hash, BigInt(record.seq), BigInt(record.last)])
  }
}

/**
 * All of them, of one stream, or none.
 * @param {Session} session
 * @param {string} hash
 * @param {CommitRow[]} records
 * @param {{isNew: boolean, signal?: AbortSignal}} how
 */
function put (session, hash, records, { isNew, signal }) {
  const rows = records.map(record => rowBytes([hash, ...cellsOf(record)]))
  return load(session, COMMITS_TABLE, Buffer.from(hash), new Table(LAYOUT, rows.length, Buffer.concat(rows)), { isNew, signal })
}
