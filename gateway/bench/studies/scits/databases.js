import { benchesOf } from '../../sinks/bench-of.js'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { describe } from '../../../base/errors.js'
import { openPostgresql } from '../../postgresql-server.js'
import { SENSOR, TABLE } from './batches.js'

/**
 * The databases of the study: those of the paper in its order, then our own.
 *
 * @typedef {object} Database
 * @property {string} name
 * @property {string} scits  as TargetDatabase
 * @property {string} type  of its sink and reader
 * @property {boolean} [isOwn]  the paper does not have it
 * @property {Record<string, unknown>} [options]  of the sink, besides those of its bench
 * @property {string} index  how the rows are found by time and sensor
 */

/** @type {Record<string, Database>} */
export const DATABASES = {
  clickhouse: {
    name: 'ClickHouse',
    scits: 'ClickhouseDB',
    type: 'clickhouse',
    index: 'sorted by time, which is also the order of time and sensor, as no two times are equal; no partitions'
  },
  influxdb: { name: 'InfluxDB', scits: 'InfluxDB', type: 'influxdb', options: { tagFields: SENSOR }, index: 'the sensor is a tag' },
  timescaledb: {
    name: 'TimescaleDB',
    scits: 'TimescaleDB',
    type: 'postgresql',
    options: { keyFields: [SENSOR], hypertable: true, chunkHours: 12, compressAfterHours: 7 * 24 },
    index: 'on time and sensor; chunks of 12 hours, compressed after 7 days'
  },
  postgresql: {
    name: 'PostgreSQL',
    scits: 'PostgresDB',
    type: 'postgresql',
    options: { keyFields: [SENSOR] },
    index: 'on time and sensor'
  },
  mysql: { name: 'MariaDB', scits: 'MySQLDB', type: 'mysql', isOwn: true, index: 'primary key by time, and one on time and sensor' },
  sqlite: { name: 'SQLite', scits: 'SQLite', type: 'sqlite', isOwn: true, index: 'on time and sensor' },
  duckdb: { name: 'DuckDB', scits: 'DuckDB', type: 'duckdb', isOwn: true, index: 'none; the least and greatest time of each group of rows' }
}

const NO_TIMESCALE = 'This PostgreSQL has no TimescaleDB.'

/** Whether a server has the extension, which only it can tell. @type {WeakMap<import('../../servers.js').Servers, Promise<string|null>>} */
const timescale = new WeakMap()

/**
 * Why a database cannot be measured here, null where it can.
 * @param {string} database @param {import('../../servers.js').Servers} servers
 */
export async function missingDatabase (database, servers) {
  const missing = (await hereOf(DATABASES[database].type, servers)).missing(servers)
  if (missing !== null || database !== 'timescaledb') return missing
  const known = timescale.get(servers) ?? lookForTimescale(servers).catch(describe)
  timescale.set(servers, known)
  return known
}

/** @param {import('../../servers.js').Servers} servers */
async function lookForTimescale (servers) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-scits-'))
  try {
    const { query, remove } = await openPostgresql(servers, folder)
    try {
      const { rows } = await query('SELECT 1 FROM pg_available_extensions WHERE name = \'timescaledb\'')
      return rows.length > 0 ? null : NO_TIMESCALE
    } finally {
      await remove()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Of several of a type the first that is here.
 * @param {string} type @param {import('../../servers.js').Servers} servers
 * @returns {Promise<import('../../sinks/sink-bench.js').SinkBench>}
 */
export async function hereOf (type, servers) {
  const all = await benchesOf(type)
  return all.find(({ missing }) => missing(servers) === null) ?? all[0]
}

/**
 * What a database needs besides its sink, before it has the table.
 * @param {string} database @param {import('../../sinks/open.js').SinkAddress} address
 */
export async function beforeTable (database, { login }) {
  if (database === 'timescaledb') await runPostgresql(login, 'CREATE EXTENSION IF NOT EXISTS timescaledb')
}

/**
 * Statistics of what has been written, which PostgreSQL's planner needs: the server would gather them by itself a minute later.
 * @param {import('../../sinks/open.js').SinkAddress} address
 */
export async function afterWriting ({ type, login }) {
  if (type === 'postgresql') await runPostgresql(login, `ANALYZE "${TABLE}"`)
}

/** @param {import('../../sinks/open.js').SinkAddress['login']} login @param {string} statement */
async function runPostgresql (login, statement) {
  const client = new pg.Client(/** @type {any} */ (login))
  await client.connect()
  await client.query(statement).finally(() => client.end())
}

/**
 * The index on time and sensor, where the sink makes another.
 * @param {import('../../sinks/open.js').SinkAddress} address
 */
export async function indexTable ({ type, options, login }) {
  if (type === 'sqlite') {
    const database = new DatabaseSync(String(options.file))
    database.exec(`DROP INDEX IF EXISTS "time of ${TABLE}"; CREATE INDEX by_time_and_sensor ON ${TABLE} (time, ${SENSOR})`)
    database.close()
  }
  if (type === 'mysql') {
    const connection = await mysql.createConnection(/** @type {any} */ (login))
    await connection.query(`CREATE INDEX by_time_and_sensor ON \`${TABLE}\` (time_ns, ${SENSOR})`).finally(() => connection.end())
  }
}
