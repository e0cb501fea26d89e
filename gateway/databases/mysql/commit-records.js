import { createHash } from 'node:crypto'
import { COMMITS_TABLE } from '../names.js'
import { quote, textLiteral } from './dialect.js'

/**
 * The commit records of one database. Those of one table, gateway, source and epoch are a stream, known by a hash: keys of MySQL are too
 * short for the names.
 *
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../sql/sink.js').Claim} Claim
 */

const TABLE = quote(COMMITS_TABLE)

const FIND_TABLE = `SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${COMMITS_TABLE}'`

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS ${TABLE} (stream BINARY(32) NOT NULL, seq BIGINT NOT NULL, last BIGINT NOT NULL,
  sink_table LONGTEXT NOT NULL, gateway LONGTEXT NOT NULL, source LONGTEXT NOT NULL, epoch LONGTEXT NOT NULL,
  PRIMARY KEY (stream, seq)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`

const DUPLICATE_KEY = 1062

/** Creates the table where it is missing. @param {Connection} connection */
export async function prepareCommits (connection) {
  const [found] = /** @type {[any[], any]} */ (await connection.query(FIND_TABLE))
  if (found.length === 0) await connection.query(CREATE_TABLE)
}

/**
 * Leaves records of batches, in a transaction. Where another transaction is storing the same batch, this waits for its end.
 * @param {Connection} connection
 * @param {Claim[]} wanted  each once
 * @returns {Promise<Claim[]>} those that had no record
 */
export async function claim (connection, wanted) {
  const records = wanted.map(each => ({ ...each, stream: streamOf(each) }))
    // In one order, so that two writers never wait for each other.
    .sort((a, b) => a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : a.seq - b.seq)
  for (let left = records.length; ;) {
    const held = await heldRanges(connection, records)
    const fresh = records.filter(({ stream, seq }) => !held.some(range => range.stream === stream && range.seq <= seq && seq <= range.last))
    if (fresh.length === 0) return []
    try {
      const values = fresh.map(recordValues).join(', ')
      await connection.query(`INSERT INTO ${TABLE} (stream, seq, last, sink_table, gateway, source, epoch) VALUES ${values}`)
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
  const [rows] = await connection.query(`SELECT sink_table AS \`table\`, gateway, source, epoch, seq, last FROM ${TABLE}`)
  return /** @type {any} */ (rows)
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
      await connection.query(`UPDATE ${TABLE} SET last = ${last} WHERE ${stream} AND seq = ${seq}`)
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
 * @returns {Promise<{stream: string, seq: number, last: number}[]>}
 */
async function heldRanges (connection, records) {
  const queries = [...Map.groupBy(records, ({ stream }) => stream)].flatMap(([stream, group]) => {
    const select = `SELECT HEX(stream) AS stream, seq, last FROM ${TABLE} WHERE stream = X'${stream}'`
    const [first, last] = [Number(group[0].seq), Number(group[group.length - 1].seq)]
    return [
      `(${select} AND seq <= ${first} ORDER BY seq DESC LIMIT 1)`,
      ...last > first ? [`(${select} AND seq > ${first} AND seq <= ${last})`] : []
    ]
  })
  const [rows] = await connection.query(queries.join(' UNION ALL '))
  return /** @type {any} */ (rows)
}

/** @param {Claim & {stream: string}} record */
function recordValues ({ stream, seq, table, gateway, source, epoch }) {
  return `(X'${stream}', ${Number(seq)}, ${Number(seq)}, ${[table, gateway, source, epoch].map(textLiteral).join(', ')})`
}

/** In hexadecimal, as MySQL writes it. @param {{table: string, gateway: string, source: string, epoch: string}} of */
function streamOf ({ table, gateway, source, epoch }) {
  return createHash('sha256').update(JSON.stringify([table, gateway, source, epoch])).digest('hex').toUpperCase()
}
