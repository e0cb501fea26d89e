import { createHash } from 'node:crypto'
import { rangesOf } from '../claims.js'
import { storeRecord, streamKey } from '../commit-records.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { setOf } from '../record-set.js'
import { COLUMNS, isText, list, MERGED, rowOf, valueOf } from '../sql/commit-records.js'

/**
 * Commit records. A record is inserted, which waits for whoever inserts the same one, and then looked for in ranges: so it is noticed where
 * another had stored the batch, and merged its record with others meanwhile. That needs no lock but those of rows.
 *
 * @typedef {import('./session.js').Session} Session
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

const TABLE = quote(COMMITS_TABLE)
/** Streams are known by a hash: names could be too long for a key. */
const HASH_LETTERS = 64
const INSERT = `INSERT INTO ${TABLE} (stream, ${list(COLUMNS)}) VALUES (?, ${COLUMNS.map(() => '?').join(', ')})`
const READ = `SELECT ${list(COLUMNS)} FROM ${TABLE}`
const IS_ONE = 'stream = ? AND seq = ?'

/** Another has stored a batch since its record was looked for: the transaction is to be tried again. */
export class Overtaken extends Error {}

/** "unique constraint violated" */
const DUPLICATE = 301

/** @param {Session} session */
export async function prepareCommits (session) {
  const count = 'SELECT COUNT(*) AS N FROM SYS.TABLES WHERE SCHEMA_NAME = CURRENT_SCHEMA AND TABLE_NAME = ?'
  const [found] = await session.rows(count, [COMMITS_TABLE])
  if (Number(found.N) > 0) return
  const columns = COLUMNS.map(name => `${list([name])} ${isText(name) ? 'NVARCHAR(5000)' : 'BIGINT'} NOT NULL`)
  const key = 'PRIMARY KEY (stream, seq)'
  await session.run(`CREATE COLUMN TABLE ${TABLE} (stream NVARCHAR(${HASH_LETTERS}) NOT NULL, ${columns.join(', ')}, ${key})`)
    .catch(error => { if (!isThere(error)) throw error })
}

/** Whether another has just created the same table or column. @param {any} error */
export function isThere (error) {
  return /duplicate (table|column) name/i.test(error.message)
}

/** @param {Session} session @returns {Promise<CommitRow[]>} */
export async function readCommits (session) {
  return (await session.rows(READ)).map(recordOf)
}

/** @param {Session} session @param {string} id  of the database */
export async function nameStore (session, id) {
  await session.each(INSERT, [cellsOf(storeRecord(id))])
}

/** @param {Session} session @param {CommitRow[]} wanted @param {Claim[]} previous @returns {Promise<Claim[]>} */
export async function claim (session, wanted, previous) {
  const held = setOf(await find(session, [...wanted, ...previous]))
  const isHeld = (/** @type {Claim} */ wantedOne) => held.find(wantedOne) !== undefined
  const fresh = wanted.filter(record => !isHeld(record))
  if (fresh.length === 0 || !previous.every(isHeld)) return []
  try {
    await session.each(INSERT, fresh.map(cellsOf))
  } catch (error) {
    if (/** @type {any} */ (error).code === DUPLICATE) throw new Overtaken('another stores the same batch', { cause: error })
    throw error
  }
  const own = new Set(fresh.map(record => `${streamKey(record)} ${record.seq} ${record.last}`))
  const others = (await find(session, fresh)).filter(row => !own.has(`${streamKey(row)} ${row.seq} ${row.last}`))
  if (others.length > 0) throw new Overtaken('another has stored the same batch')
  return fresh
}

/** The records that hold these. @param {Session} session @param {Claim[]} claims @returns {Promise<CommitRow[]>} */
export async function find (session, claims) {
  const found = []
  for (const { stream, ranges } of rangesOf(claims)) {
    for (const [first, last] of ranges) {
      found.push(...await session.rows(`${READ} WHERE stream = ? AND seq <= ? AND last >= ?`, [streamOf(stream), last, first]))
    }
  }
  return found.map(recordOf)
}

/** They count no rows. @param {Session} session @param {CommitRow[]} records */
export async function move (session, records) {
  await session.each(`UPDATE ${TABLE} SET staged = 0, stored = 0, dead = 0 WHERE ${IS_ONE}`, records.map(keyOf))
}

/** @param {Session} session @param {() => Promise<CommitRow[]>} merged */
export async function compact (session, merged) {
  session.begin()
  // Whoever compacts holds this row, and then reads what others before have left.
  await session.rows(`SELECT seq FROM ${TABLE} WHERE sink_table = '' FOR UPDATE`)
  const records = await merged()
  if (records.length > 0) {
    await session.each(`DELETE FROM ${TABLE} WHERE stream = ? AND seq > ? AND last <= ?`,
      records.map(record => [...keyOf(record), record.last]))
    await session.each(`UPDATE ${TABLE} SET ${MERGED.map(name => `${name} = ?`).join(', ')} WHERE ${IS_ONE}`,
      records.map(record => [...MERGED.map(name => valueOf(record, name)), ...keyOf(record)]))
  }
  await session.commit()
}

/** @param {CommitRow} record */
function keyOf (record) {
  return [streamOf(record), record.seq]
}

/** @param {CommitRow} record */
function cellsOf (record) {
  return [streamOf(record), ...COLUMNS.map(name => valueOf(record, name))]
}

/** @param {import('../commit-records.js').Stream} of */
function streamOf (of) {
  return createHash('sha256').update(streamKey(of)).digest('hex')
}

/** The server writes names in capitals. @param {Record<string, any>} row @returns {CommitRow} */
function recordOf (row) {
  const { sink_table: table, ...record } = Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toLowerCase(), value]))
  return rowOf({ table, ...record })
}
