import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import pg from 'pg'
import { open as openSink } from '../../gateway/databases/postgresql/sink.js'
import { readDialect } from '../../gateway/databases/postgresql/dialect.js'
import { open, READ_COLUMNS } from '../../gateway/databases/postgresql/reader.js'
import { schema } from '../../gateway/databases/postgresql/reader.schema.js'
import { connect } from '../../gateway/databases/postgresql/connection.js'
import { TableStatements } from '../../gateway/databases/sql/table-statements.js'
import { withDefaults } from '../../gateway/base/defaults.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { lookupContract } from './lookups.js'
import { papersSqlTests } from './papers-sql.js'
import { queryContract } from './queries.js'

const ALL = { from: -(2n ** 63n), to: 2n ** 63n - 1n }

describe('PostgreSQL reader', () => {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let server
  /** @type {import('../../gateway/databases/postgresql/connection.js').PostgresqlServer} */
  let connected
  /** @type {pg.Client} */
  let client

  const login = () => ({ host: '127.0.0.1', port: server.port, user: server.user, password: server.password, database: server.database })

  before(async function () {
    requirePostgresql(this)
    server = await startPostgresql()
    connected = connect({ ...login(), connections: 2 })
    client = new pg.Client(login())
    await client.connect()
  })

  after(async () => {
    await client?.end()
    await connected?.close()
    await server?.remove()
  })

  beforeEach(async () => { await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public') })

  /** @param {Record<string, unknown>} options @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const store = async (options, ...batches) => {
    const sink = await openSink(options, { server: connected })
    await sink.prepare(batches)
    await sink.write(batches)
  }

  const openReader = (/** @type {object} */ options = {}) => open({ table: 'press', ...options }, { server: connected })

  const samples = async (/** @type {object} */ options, sensor = 'force') => {
    const reader = await openReader(options)
    const found = []
    for await (const page of reader.samples({ sensors: [sensor], ...ALL })) found.push(...page)
    return found
  }

  const values = async (/** @type {object} */ options, sensor = 'force') => (await samples(options, sensor)).map(({ value }) => value)

  /** @type {import('./contract.js').Harness} */
  const harness = {
    layouts: ['wide', 'narrow', 'document'],
    store: (layout, batches) => store({ layout }, ...batches),
    open: layout => openReader({ layout })
  }
  readerContract(harness)
  queryContract(harness)
  lookupContract({ store, open: openReader })
  papersSqlTests({
    store, open: openReader, select: async sql => (await client.query(sql)).rows, time: 'time_ns', stddev: 'stddev(value)'
  })

  it('reads one of several sources in a table, of any schema', async () => {
    await store({ table: 'all', schema: 'plant "7"' }, batchOf([1, 2]), batchOf([3], { source: 'oven' }))
    expect(await values({ table: 'all', schema: 'plant "7"', source: 'oven' })).to.deep.equal([3])
    expect(await values({ table: 'all', schema: 'plant "7"' })).to.have.members([1, 2, 3])
  })

  it('reads tables and views that other programs have created', async () => {
    await client.query(`CREATE TABLE press (at timestamptz, sensor_id int, reading real); INSERT INTO press VALUES
      ('2023-11-14 22:13:20.123456Z', 17, 0.1), ('1969-12-31 23:59:59.999999Z', 17, 2.5), (now(), 18, 1)`)
    await client.query('CREATE VIEW last AS SELECT at AT TIME ZONE \'UTC\' AS at, sensor_id::bigint, reading::numeric FROM press')
    const columns = { layout: 'narrow', timeColumn: 'at', sensorColumn: 'sensor_id', valueColumn: 'reading' }
    expect(await samples(columns, '17')).to.deep.equal([
      { time: -1000n, sensor: '17', value: 2.5 },
      { time: 1_700_000_000_123_456_000n, sensor: '17', value: Math.fround(0.1) }
    ])
    expect(await samples({ ...columns, table: 'last' }, '17')).to.deep.equal([
      { time: -1000n, sensor: '17', value: 2.5 },
      { time: 1_700_000_000_123_456_000n, sensor: '17', value: 0.1 }
    ])
    const reader = await openReader(columns)
    expect(await reader.minimum({ sensor: '17', from: -1000n, to: -999n })).to.equal(-1000n)
    expect(await reader.minimum({ sensor: '17', from: -999n, to: 1_700_000_000_123_456_000n })).to.equal(null)
  })

  it('returns NaN as it is stored, and leaves it out of what it computes', async () => {
    await store({}, batchOf([NaN, 3, 1]))
    const reader = await openReader()
    expect(await values({})).to.deep.equal([NaN, 3, 1])
    expect(await reader.summaries({ sensors: ['force'], ...ALL, statistics: ['count', 'mean', 'max'] })).to.deep.equal([{
      time: ALL.from,
      sensor: 'force',
      count: 2,
      mean: 2,
      max: 3
    }])
    expect(await reader.minimum({ sensor: 'force', ...ALL })).to.equal(T0 + 2n)
    expect(await reader.edge({ sensor: 'force', ...ALL, above: 0 })).to.equal(T0 + 1n)
  })

  for (const layout of ['wide', 'narrow']) {
    it(`finds a ${layout} range by its index, in whatever it asks`, async () => {
      await store({ layout }, batchOf(
        Array.from({ length: 50_000 }, (_, i) => i),
        { time: BigInt64Array.from({ length: 50_000 }, (_, i) => T0 + BigInt(i) * 1_000_000n) }
      ))
      await client.query('ANALYZE press')
      const options = /** @type {any} */ (withDefaults(schema, { table: 'press', layout }))
      const name = '"public"."press"'
      const table = new TableStatements(options, name, (await client.query(READ_COLUMNS, [name])).rows, readDialect)
      const range = { sensor: 'force', from: T0 + 10_000_000_000n, to: T0 + 10_100_000_000n }
      const statements = {
        samples: table.samples(['force'], range),
        summaries: table.summaries(['force'], { ...range, bucketNs: 1_000_000n }, ['count', 'mean', 'stddev'], 1000),
        first: table.edge({ ...range, above: 5 }),
        last: table.edge({ ...range, below: 5, last: true }),
        minimum: table.minimum(range)
      }
      for (const [what, { sql, values: parameters }] of Object.entries(statements)) {
        const { rows } = await client.query(`EXPLAIN (ANALYZE) ${sql}`, parameters)
        const plan = rows.map(row => row['QUERY PLAN']).join('\n')
        expect(plan, what).to.match(/Index (Only )?Scan.*press_time_/).and.to.match(/Index Cond: .*"time" >= .*"time" <= /)
        expect(plan, what).not.to.match(/Seq Scan/)
      }
    })
  }

  it('finds the numbers of sensors by an index on them', async () => {
    await client.query(`CREATE TABLE press AS SELECT to_timestamp(n) AS time, n::bigint * 1000000000 AS time_ns,
      (n % 1000)::bigint AS sensor, n::float8 AS value FROM generate_series(1, 100000) AS n`)
    await client.query('CREATE INDEX ON press (time, sensor); ANALYZE press')
    const name = '"public"."press"'
    const options = /** @type {any} */ (withDefaults(schema, { table: 'press', layout: 'narrow' }))
    const table = new TableStatements(options, name, (await client.query(READ_COLUMNS, [name])).rows, readDialect)
    const range = { from: 0n, to: 5_000_000_000_000n }
    const { sql, values: parameters } = table.summaries(['7', '9223372036854775807', '-9'], range, ['count'], 1000)
    const { rows } = await client.query(`EXPLAIN (ANALYZE) ${sql}`, parameters)
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).to.match(/Index Cond: .*sensor = ANY/)
    const count = async (/** @type {string[]} */ ...sensors) => {
      const reader = await openReader({ layout: 'narrow' })
      return (await reader.summaries({ sensors, ...range, statistics: ['count'] })).map(({ sensor, count: its }) => [sensor, its])
    }
    expect(await count('7', '9223372036854775807', '-9')).to.deep.equal([['7', 5]])
    expect(await count('8', 'no number', '07', '9223372036854775808')).to.deep.equal([['8', 5]])
  })

  it('ends an aborted query at the server, too', async () => {
    await store({}, batchOf([1]))
    const holder = new pg.Client(login())
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE press IN ACCESS EXCLUSIVE MODE')
    const abort = new AbortController()
    const reader = await openReader()
    const waiting = failureOf(() => reader.summaries({ sensors: ['force'], ...ALL, statistics: ['mean'], signal: abort.signal }))
    const running = async () => Number(
      (await client.query('SELECT count(*) FROM pg_stat_activity WHERE application_name = \'sluice\' AND state = \'active\'')).rows[0].count
    )
    while (await running() === 0) await sleep(10)
    abort.abort(new Error('closing'))
    expect((await waiting).message).to.equal('closing')
    while (await running() > 0) await sleep(50)
    await holder.end()
    expect(await values({})).to.deep.equal([1])
  })

  it('returns its connection, whether read to the end or not', async () => {
    await store({}, batchOf(Array.from({ length: 100 }, (_, i) => i)))
    const reader = await openReader()
    for (let i = 0; i < 5; i++) {
      for await (const page of reader.samples({ sensors: ['force'], ...ALL, pageRows: 10 })) {
        if (page[0].value === 10) break
      }
    }
    const { rows } = await client.query('SELECT state FROM pg_stat_activity WHERE application_name = \'sluice\'')
    expect(rows.map(({ state }) => state)).to.deep.equal(rows.map(() => 'idle'))
  })

  it('ends before the intervals of a query fill the memory', async () => {
    await client.query('CREATE TABLE press (time_ns int8 NOT NULL, force float8, speed float8); ' +
      'INSERT INTO press SELECT i, i, i FROM generate_series(1, 260000) AS i')
    const reader = await openReader({ timeColumn: 'time_ns' })
    const range = { sensors: ['force', 'speed'], from: 0n, to: 1_000_000n, statistics: /** @type {any[]} */ (['mean']) }
    expect((await failureOf(() => reader.summaries({ ...range, bucketNs: 1n }))).message).to.match(/more than 500,000 intervals/)
    expect(await reader.summaries({ ...range, bucketNs: 100n })).to.have.length(2 * 2601)
  })

  it('leaves a connection to the sinks, however many queries are read slowly', async () => {
    await store({}, batchOf(Array.from({ length: 100 }, (_, i) => i)))
    const reader = await openReader()
    const pages = () => reader.samples({ sensors: ['force'], ...ALL, pageRows: 10 })
    const [first, second] = [pages(), pages()]
    await first.next()
    const waiting = second.next()
    await store({}, batchOf([-1], { time: BigInt64Array.of(T0 - 1n) }))
    await first.return()
    expect((await waiting).value).to.have.length(10)
    await second.return()
  })

  it('ends at once when aborted, although it still waits for a connection', async () => {
    await store({}, batchOf(Array.from({ length: 100 }, (_, i) => i)))
    const reader = await openReader()
    const holding = reader.samples({ sensors: ['force'], ...ALL, pageRows: 10 })
    await holding.next()
    const abort = new AbortController()
    const waiting = failureOf(() => reader.minimum({ sensor: 'force', ...ALL, signal: abort.signal }))
    abort.abort(new Error('closing'))
    expect((await waiting).message).to.equal('closing')
    await holding.return()
    expect(await reader.minimum({ sensor: 'force', ...ALL })).to.equal(T0)
  })

  it('sees one state of the table, while it is being written', async () => {
    await store({}, batchOf(Array.from({ length: 5000 }, (_, i) => i)))
    let read = 0
    for await (const page of (await openReader()).samples({ sensors: ['force'], ...ALL, pageRows: 1000 })) {
      if (read === 0) await store({}, batchOf([-1], { time: BigInt64Array.of(T0 + 100_000n) }))
      read += page.length
    }
    expect(read).to.equal(5000)
  })

  it('reports what is missing: the table, a column, the server', async () => {
    const messageOf = async (/** @type {object} */ options) => (await failureOf(() => values(options))).message
    expect(await messageOf({})).to.match(/The table "public"\."press" does not exist\. Check table and schema/)
    await store({}, batchOf([1]))
    expect(await messageOf({ timeColumn: 'at' })).to.match(/no column "at"/)
    expect(await messageOf({ timeColumn: 'force' })).to.match(/"force".*is of type float8.*Set a time column of type timestamptz/)
    expect(await messageOf({ source: 'press' })).to.match(/no column "source"/)
    expect(await messageOf({ layout: 'narrow' })).to.match(/no column "sensor"/)
    expect(await messageOf({ layout: 'document' })).to.match(/no column "measurements"/)
    const nowhere = connect({ port: 1 })
    expect((await failureOf(async () => (await open({}, { server: nowhere })).minimum({ sensor: 'force', ...ALL }))).message).to.match(
      /No connection.*ECONNREFUSED/
    )
    await nowhere.close()
  })
})
