import pg from 'pg'

/**
 * What a database has of the source `machine`: how many rows, with how many different times, in ns since 1970.
 * @typedef {{rows: number, times: number, first: bigint, last: bigint}} Stored
 */

const ALL = { from: 0n, to: 2n ** 63n - 1n }

/**
 * In the SQLite file, as `sqlite3` says it.
 * @param {import('./stranger.js').Stranger} stranger
 * @param {{from?: bigint, to?: bigint}} [range]
 * @returns {Promise<Stored>}
 */
export async function inSqlite (stranger, range) {
  const { from, to } = { ...ALL, ...range }
  const sql = `SELECT count(*), count(DISTINCT time), min(time), max(time) FROM machine WHERE time BETWEEN ${from} AND ${to}`
  return stored((await stranger.type(`sqlite3 .sluice/sluice/sluice.sqlite "${sql}"`)).trim().split('|'))
}

/**
 * In the table `measurements` of PostgreSQL.
 * @param {import('../../servers/postgresql.js').PostgresqlServer} server
 * @param {bigint} [to]
 * @returns {Promise<Stored>}
 */
export async function inPostgresql ({ port, user, password, database }, to = ALL.to) {
  const client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
  await client.connect()
  try {
    const { rows: [{ exists }] } = await client.query('SELECT to_regclass(\'measurements\') IS NOT NULL AS exists')
    if (!exists) return stored([])
    const sql = 'SELECT count(*), count(DISTINCT time_ns), min(time_ns), max(time_ns) FROM measurements WHERE source = $1 AND time_ns <= $2'
    const { rows: [row] } = await client.query({ text: sql, values: ['machine', String(to)], rowMode: 'array' })
    return stored(row)
  } finally {
    await client.end()
  }
}

/**
 * What the README's query finds where samples are missing.
 * @param {string} query
 * @param {import('./stranger.js').Stranger} stranger
 */
export async function holesBy (query, stranger) {
  const lines = (await stranger.type(query)).split('\n').filter(line => line !== '')
  return lines.map(line => line.split('|')).map(([at, holeMs]) => {
    return { endMs: Date.parse(`${at.replace(' ', 'T')}Z`), holeMs: Number(holeMs) }
  })
}

/** @param {string[]} texts  the last two are missing where there is no row */
function stored ([rows = '0', times = '0', first, last]) {
  return { rows: Number(rows), times: Number(times), first: BigInt(first || 0), last: BigInt(last || 0) }
}
