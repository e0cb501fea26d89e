import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { ClickhouseDatabase } from '../databases/clickhouse-database.js'
import { InfluxdbDatabase } from '../databases/influxdb-database.js'
import { MysqlDatabase } from '../databases/mysql-database.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { dashboardContract } from './contract.js'

const ALL_LAYOUTS = ['wide', 'narrow', 'document']
const LABELS = ['source', 'device', 'metric']

/**
 * A row of SQL as a data source takes it.
 * @param {Record<string, any>} row
 * @param {(time: any) => number} toMs
 * @param {string} [clock]
 */
function answerOf (row, toMs, clock = 'time') {
  const values = Object.fromEntries(Object.entries(row).filter(([name]) => name !== clock && !LABELS.includes(name)))
  return { atMs: toMs(row[clock]), labels: LABELS.flatMap(name => row[name] ?? []), values }
}
const sqlOf = (/** @type {any} */ { rawSql }) => rawSql

describe('Dashboards of PostgreSQL', () => {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let server
  /** @type {pg.Client} */
  let client
  const login = () => ({ host: '127.0.0.1', port: server.port, user: server.user, password: server.password, database: server.database })

  before(async function () {
    requirePostgresql(this)
    server = await startPostgresql()
    client = new pg.Client(login())
    await client.connect()
    await client.query('SET timezone = \'Pacific/Kiritimati\'')
  })
  after(async () => {
    await client?.end()
    await server?.remove()
  })
  beforeEach(async () => { await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public') })

  dashboardContract({
    type: 'postgresql',
    layouts: ALL_LAYOUTS,
    login,
    textOf: sqlOf,
    ask: async sql => (await client.query(sql)).rows.map(row => answerOf(row, seconds => Number(seconds) * 1000))
  })
})

describe('Dashboards of MySQL', () => {
  const database = MysqlDatabase.inSuite()
  beforeEach(async () => { await database.query('SET time_zone = \'+05:45\'') })

  dashboardContract({
    type: 'mysql',
    layouts: ALL_LAYOUTS,
    login: () => database.login,
    textOf: sqlOf,
    ask: async sql => (await database.query(sql)).map(row => answerOf(row, Number))
  })
})

describe('Dashboards of ClickHouse', () => {
  const database = ClickhouseDatabase.inSuite('modern')

  dashboardContract({
    type: 'clickhouse',
    layouts: ALL_LAYOUTS,
    login: () => database.login,
    textOf: sqlOf,
    ask: async sql => {
      const settings = { session_timezone: 'Asia/Kathmandu', date_time_output_format: 'unix_timestamp' }
      const lines = (await database.ask(`${sql}\nFORMAT JSONEachRow`, settings)).split('\n').filter(line => line !== '')
      return lines.map(line => answerOf(JSON.parse(line), seconds => Number(seconds) * 1000, 'bucket'))
    }
  })
})

describe('Dashboards of InfluxDB', () => {
  const database = InfluxdbDatabase.inSuite()

  dashboardContract({
    type: 'influxdb',
    layouts: ['wide', 'narrow'],
    login: () => {
      const { port, user, password } = database.server
      return { host: '127.0.0.1', port, user, password, database: database.name }
    },
    textOf: target => target.query,
    async ask (query) {
      const { series = [] } = await database.query(query)
      return series.flatMap((/** @type {any} */ { columns, values, tags = {} }) => values.map((/** @type {any[]} */ [time, ...cells]) => ({
        atMs: Number(BigInt(time) / 1_000_000n),
        labels: ['source', 'device', 'sensor'].flatMap(name => tags[name] ?? []),
        values: Object.fromEntries(cells.map((cell, i) => [columns[i + 1], cell]))
      })))
    }
  })
})

describe('Dashboards of SQLite', () => {
  let folder = ''
  const file = () => join(folder, 'plant.sqlite')
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-grafana-')) })
  afterEach(() => rm(folder, { recursive: true }))

  dashboardContract({
    type: 'sqlite',
    layouts: ALL_LAYOUTS,
    login: () => null,
    options: () => ({ file: file() }),
    textOf: target => target.rawQueryText,
    async ask (sql) {
      const database = new DatabaseSync(file(), { readOnly: true })
      try {
        return database.prepare(sql).all().map(row => answerOf(row, seconds => seconds * 1000))
      } finally {
        database.close()
      }
    }
  })
})
