import { createHash } from 'node:crypto'
import { RECORD_NUMBERS } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { oldRecords } from '../old-records.js'
import { quote, textLiteral } from './dialect.js'

/**
 * The commit records of one database. Those of one table, gateway, source and epoch are a stream, known by a hash: keys of MySQL are too
 * short for the names.
 *
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 */

const TABLE = quote(COMMITS_TABLE)

const NUMBERS = RECORD_NUMBERS.map(quote)
const READ = `SELECT sink_table AS \`table\`, gateway, source, epoch, ${NUMBERS.join(', ')} FROM ${TABLE}`

const FIND_COLUMNS = `SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${COMMITS_TABLE}'`

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS ${TABLE} (stream BINARY(32) NOT NULL,
  ${NUMBERS.map(name => `${name} BIGINT NOT NULL`).join(', ')},
  sink_table LONGTEXT NOT NULL, gateway LONGTEXT NOT NULL, source LONGTEXT NOT NULL, epoch LONGTEXT NOT NULL,
  PRIMARY KEY (stream, seq)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`

const INSERT = `INTO ${TABLE} (stream, ${NUMBERS.join(', ')}, sink_table, gateway, source, epoch) VALUES`

const DUPLICATE_KEY = 1062

/** Creates the table where it is missing. @param {Connection} connection @param {string} place */
export async function prepareCommits (connection, place) {
  const [columns] = /** @type {[any[], any]} */ (await connection.query(FIND_COLUMNS))
  if (columns.length === 0) await connection.query(CREATE_TABLE)
  else if (!columns.some(({ name }) => name === 'hash')) throw oldRecords(place)
}

/** Names the database, where it has no name. @param {Connection} connection @param {string} id */
export async function nameStore (connection, id) {
  const none = Object.fromEntries(RECORD_NUMBERS.map(name => [name, 0]))
  const record = /** @type {CommitRow} */ ({ table: '', gateway: id, source: '', epoch: '', ...none })
  // All such records are one stream, so that there can be but one.
  await connection.query(`INSERT IGNORE ${INSERT} ${recordValues({ ...record, stream: streamOf({ ...record, gateway: '' }) })}`)
}

/**
 * Leaves records of batches, in a transaction. Where another transaction is storing the same batch, this waits for its end.
 * @param {Connection} connection
 * @param {CommitRow[]} wanted  each once
 * @param {Claim[]} previous  without which none are left
 * @returns {Promise<Claim[]>} those that had no record
 */
export async function claim (connection, wanted, previous) {
  // In one order, so that two writers never wait for each other.
  const records = wanted.map(withStream).sort((a, b) => a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : a.seq - b.seq)
  const last = previous.map(withStream)
  for (let left = records.length; ;) {
    const held = await heldRanges(connection, records, last)
    const isHeld = (/** @type {{stream: string, seq: number}} */ { stream, seq }) =>
      held.some(range => range.stream === stream && range.seq <= seq && seq <= range.last)
    if (!last.every(isHeld)) return []
    const fresh = records.filter(record => !isHeld(record))
    if (fresh.length === 0) return []
    try {
      await connection.query(`INSERT ${INSERT} ${fresh.map(recordValues).join(', ')}`)
      return fresh
    } catch (error) {
      // Another has committed some of them since they were looked for, so that there are fewer now.
      if (/** @type {any} */ (error).errno !== DUPLICATE_KEY) throw error
      if (fresh.length > left) break
      left = fresh.length - 1
    }
  }
  throw new Error('a commit record already exists that cannot be read')
}

/** @param {Connection} connection @returns {Promise<CommitRow[]>} */
export async function readCommits (connection) {
  return /** @type {any} */ ((await connection.query(READ))[0])
}

/**
 * The records that may hold these: the nearest ones. Those that another transaction is leaving are waited for.
 * @param {Connection} connection
 * @param {Claim[]} wanted  at least one
 * @returns {Promise<CommitRow[]>}
 */
export async function find (connection, wanted) {
  const queries = wanted.map(claimed =>
    `(${READ} WHERE stream = X'${streamOf(claimed)}' AND seq <= ${Number(claimed.seq)} ORDER BY seq DESC LIMIT 1 LOCK IN SHARE MODE)`)
  return /** @type {any} */ ((await connection.query(queries.join(' UNION ALL ')))[0])
}

/** Has records count no rows. @param {Connection} connection @param {Claim[]} records */
export async function move (connection, records) {
  for (const record of records) {
    await connection.query(`UPDATE ${TABLE} SET staged = 0, stored = 0, dead = 0
      WHERE stream = X'${streamOf(record)}' AND seq = ${Number(record.seq)}`)
  }
}

/** @param {Connection} connection @param {() => Promise<CommitRow[]>} merged  what to put in the place of the records within */
export async function compactCommits (connection, merged) {
  // Waits for all transactions that look for records, and holds up those to come: a record must not move between their looking and their
  // inserting.
  await connection.query('SET autocommit = 0')
  try {
    await connection.query(`LOCK TABLES ${TABLE} WRITE`)
    for (const record of await merged()) {
      const stream = `stream = X'${streamOf(record)}'`
      const [seq, last] = [Number(record.seq), Number(record.last)]
      await connection.query(`DELETE FROM ${TABLE} WHERE ${stream} AND seq > ${seq} AND last <= ${last}`)
      const sums = RECORD_NUMBERS.filter(name => name !== 'seq').map(name => `${quote(name)} = ${Number(record[name])}`)
      await connection.query(`UPDATE ${TABLE} SET ${sums.join(', ')} WHERE ${stream} AND seq = ${seq}`)
    }
    for (const end of ['COMMIT', 'UNLOCK TABLES', 'SET autocommit = 1']) await connection.query(end)
  } catch (error) {
    connection.destroy() // and with it the lock
    throw error
  }
}

/**
 * The ranges that could hold one of these numbers. Ranges are disjoint: of those that begin before the first number, only the last one can.
 * @param {Connection} connection
 * @param {{stream: string, seq: number}[]} records  in order
 * @param {{stream: string, seq: number}[]} others
 * @returns {Promise<{stream: string, seq: number, last: number}[]>}
 */
async function heldRanges (connection, records, others) {
  const select = (/** @type {string} */ stream) => `SELECT HEX(stream) AS stream, seq, last FROM ${TABLE} WHERE stream = X'${stream}'`
  const nearest = (/** @type {{stream: string, seq: number}} */ { stream, seq }) =>
    `(${select(stream)} AND seq <= ${Number(seq)} ORDER BY seq DESC LIMIT 1)`
  const queries = [...Map.groupBy(records, ({ stream }) => stream)].flatMap(([stream, group]) => {
    const [first, last] = [Number(group[0].seq), Number(group[group.length - 1].seq)]
    return [nearest(group[0]), ...last > first ? [`(${select(stream)} AND seq > ${first} AND seq <= ${last})`] : []]
  })
  queries.push(...others.map(nearest))
  const [rows] = await connection.query(queries.join(' UNION ALL '))
  return /** @type {any} */ (rows)
}

/** @param {CommitRow & {stream: string}} record */
function recordValues (record) {
  const { table, gateway, source, epoch } = record
  const numbers = RECORD_NUMBERS.map(name => Number(record[name]))
  return `(X'${record.stream}', ${[...numbers, ...[table, gateway, source, epoch].map(textLiteral)].join(', ')})`
}

/** @template {Claim} C @param {C} record */
function withStream (record) {
  return { ...record, stream: streamOf(record) }
}

/** In hexadecimal, as MySQL writes it. @param {import('../commit-records.js').Stream} of */
function streamOf ({ table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([table, gateway, source, epoch])).digest('hex').toUpperCase()
}
