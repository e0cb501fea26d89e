import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { withDefaults } from '../../gateway/base/defaults.js'
import { open } from '../../gateway/databases/clickhouse/reader.js'
import { schema } from '../../gateway/databases/clickhouse/reader.schema.js'
import { plainType, readDialect } from '../../gateway/databases/clickhouse/dialect.js'
import { TableStatements } from '../../gateway/databases/sql/table-statements.js'
import { ClickhouseDatabase } from '../databases/clickhouse-database.js'
import { batchOf, failureOf, rowOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { queryContract } from './queries.js'
import { storing, WHOLE, wholeRangeTest } from './stored.js'

describe('ClickHouse reader', () => readerTests('modern'))

describe('ClickHouse reader on an old server', () => readerTests('old'))

/** @param {import('../databases/clickhouse-database.js').Age} age */
function readerTests (age) {
  const database = ClickhouseDatabase.inSuite(age)
  const { ask } = database

  const stored = storing(database, open, { connections: 2 })
  const { store, open: openReader } = stored

  const samples = async (/** @type {object} */ options, sensor = 'force') => {
    const found = []
    for await (const page of (await openReader(options)).samples({ sensors: [sensor], ...WHOLE })) found.push(...page)
    return found
  }

  const values = async (/** @type {object} */ options, sensor = 'force') => (await samples(options, sensor)).map(({ value }) => value)

  /** Queries that the server runs, but for the one that asks. */
  const running = async () => Number(await ask('SELECT count() FROM system.processes WHERE query_id LIKE \'sluice-query-%\''))

  /** @type {import('./contract.js').Harness} */
  const harness = {
    layouts: ['wide', 'narrow', 'document'],
    store: (layout, batches) => store({ layout }, ...batches),
    open: layout => openReader({ layout })
  }
  readerContract(harness)
  if (age === 'modern') queryContract(harness)

  wholeRangeTest(stored)

  it('reads one of several sources in a table', async () => {
    await store({ table: 'all' }, batchOf([1, 2]), batchOf([3], { source: 'oven' }))
    expect(await values({ table: 'all', source: 'oven' })).to.deep.equal([3])
    expect(await values({ table: 'all' })).to.have.members([1, 2, 3])
  })

  it('reads infinities and NaN', async () => {
    await store({}, batchOf([Infinity, -Infinity, NaN, 1]))
    expect(await values({})).to.deep.equal([Infinity, -Infinity, NaN, 1])
    const reader = await openReader()
    expect(await reader.summaries({ sensors: ['force'], ...WHOLE, statistics: ['count', 'min', 'max'] })).to.deep.equal([{
      time: WHOLE.from,
      sensor: 'force',
      count: 3,
      min: -Infinity,
      max: Infinity
    }])
    expect(await reader.edge({ sensor: 'force', ...WHOLE, above: Infinity })).to.equal(null)
    expect(await reader.minimum({ sensor: 'force', ...WHOLE })).to.equal(T0 + 1n)
  })

  it('returns bytes of a narrow table in base64', async () => {
    await store({ layout: 'narrow' }, rowOf({ blob: ['bytes', Uint8Array.of(0, 255, 10)] }))
    expect(await values({ layout: 'narrow' }, 'blob')).to.deep.equal(['AP8K'])
  })

  it('reads tables and views that other programs have created', async () => {
    await ask(
      'CREATE TABLE press (at DateTime(\'Europe/Berlin\'), sensor_id Int32, reading Float32) ENGINE = MergeTree ORDER BY (sensor_id, at)'
    )
    await ask('INSERT INTO press VALUES (1700000000, 17, 0.1), (1700000001, 17, 2.5), (1700000002, 18, 1)')
    await ask('CREATE VIEW last AS SELECT toInt64(toUnixTimestamp(at)) * 1000000000 AS at, toString(sensor_id) AS sensor_id, ' +
      'toDecimal32(reading, 1) AS reading FROM press')
    const columns = { layout: 'narrow', timeColumn: 'at', sensorColumn: 'sensor_id', valueColumn: 'reading' }
    const second = 1_700_000_000_000_000_000n
    expect(await samples(columns, '17')).to.deep.equal([
      { time: second, sensor: '17', value: Math.fround(0.1) },
      { time: second + 1_000_000_000n, sensor: '17', value: 2.5 }
    ])
    expect(await samples({ ...columns, table: 'last' }, '17')).to.deep.equal([
      { time: second, sensor: '17', value: 0.1 },
      { time: second + 1_000_000_000n, sensor: '17', value: 2.5 }
    ])
    const reader = await openReader(columns)
    expect(await reader.minimum({ sensor: '17', from: second, to: second + 1n })).to.equal(second)
    expect(await reader.minimum({ sensor: '17', from: second + 1n, to: second + 2n })).to.equal(null)
  })

  if (age === 'modern') {
    for (const layout of ['wide', 'narrow']) {
      it(`finds a ${layout} range by the order of the table`, async () => {
        await store({ layout }, batchOf(
          Array.from({ length: 100_000 }, (_, i) => i),
          { time: BigInt64Array.from({ length: 100_000 }, (_, i) => T0 + BigInt(i) * 1_000_000n) }
        ))
        const options = /** @type {any} */ (withDefaults(schema, { table: 'press', layout }))
        const columns = await database.select('SELECT name, type FROM system.columns WHERE database = \'sluice\' AND table = \'press\'')
        const table = new TableStatements(
          options,
          '`press`',
          columns.map(({ name, type }) => ({ name, kind: plainType(type) })),
          readDialect
        )
        const range = { sensor: 'force', from: T0 + 10_000_000_000n, to: T0 + 10_100_000_000n }
        const summaries = table.summaries(['force'], range, ['mean'], 1000)
        for (const { sql } of [table.samples(['force'], range), summaries, table.edge({ ...range, above: 5 }), table.minimum(range)]) {
          const plan = await ask(`EXPLAIN indexes = 1 ${sql}`)
          expect(plan).to.match(/Granules: 1\/12/)
        }
      })
    }

    it('reads times of other precisions', async () => {
      await ask('CREATE TABLE press (time DateTime64(3, \'UTC\'), force Float64) ENGINE = MergeTree ORDER BY time')
      await ask('INSERT INTO press VALUES (\'2023-11-14 22:13:20.123\', 1), (\'1969-12-31 23:59:59.999\', 2)')
      expect(await samples({})).to.deep.equal([
        { time: -1_000_000n, sensor: 'force', value: 2 },
        { time: 1_700_000_000_123_000_000n, sensor: 'force', value: 1 }
      ])
    })
  }

  it('leaves no query running, whether read to the end, left early or aborted', async () => {
    await store(
      {},
      batchOf(Array(20_000).fill(0), { fields: [{ name: 'note', type: 'string' }], columns: [Array(20_000).fill('.'.repeat(600))] })
    )
    const reader = await openReader()
    for (let i = 0; i < 3; i++) {
      for await (const page of reader.samples({ sensors: ['note'], ...WHOLE, pageRows: 10 })) if (page.length > 0) break
    }
    await ask('CREATE VIEW slow AS SELECT toDateTime(1) AS time, toFloat64(number) AS force FROM system.numbers')
    const abort = new AbortController()
    const waiting = failureOf(async () =>
      (await openReader({ table: 'slow' })).summaries({ sensors: ['force'], ...WHOLE, statistics: ['mean'], signal: abort.signal }))
    setTimeout(() => abort.abort(new Error('closing')), 150)
    expect((await waiting).message).to.equal('closing')
    while (await running() > 0) await sleep(20)
  })

  it('reports that the server stopped in the middle of a reading', async () => {
    await store(
      {},
      batchOf(Array(20_000).fill(0), { fields: [{ name: 'note', type: 'string' }], columns: [Array(20_000).fill('.'.repeat(2000))] })
    )
    const reader = await openReader()
    const error = await failureOf(async () => {
      let read = 0
      for await (const { length } of reader.samples({ sensors: ['note'], ...WHOLE, pageRows: 1000 })) {
        if ((read += length) === 2000) await database.server.kill()
      }
    })
    expect(error.code).to.be.oneOf(['SLUICE_SINK_CONNECT', 'SLUICE_QUERY_CLICKHOUSE'])
    await database.server.start()
    expect(await (await openReader()).edge({ sensor: 'note', ...WHOLE, above: 0 })).to.equal(null)
  })

  it('reports what is missing: the table, a column, the server', async () => {
    const messageOf = async (/** @type {object} */ options) => (await failureOf(() => values(options))).message
    expect(await messageOf({})).to.match(/The table `press` does not exist\. Check table and database/)
    await store({}, batchOf([1]))
    expect(await messageOf({ timeColumn: 'at' })).to.match(/no column `at`/)
    expect(await messageOf({ timeColumn: 'force' })).to.match(/`force`.*is of type Float64.*Set a time column of type DateTime64/)
    expect(await messageOf({ source: 'press' })).to.match(/no column `source`/)
    expect(await messageOf({ layout: 'narrow' })).to.match(/no column `sensor`/)
    expect(await messageOf({ layout: 'document' })).to.match(/no column `measurements`/)
    const nowhere = database.connect({ port: 1 })
    expect((await failureOf(async () => (await open({}, { server: nowhere })).minimum({ sensor: 'force', ...WHOLE }))).message).to.match(
      /No connection.*ECONNREFUSED/
    )
  })

  it('reads as a user with read permission only', async () => {
    await store({}, batchOf([1, 2]))
    const reader = await open({ table: 'press' }, { server: database.connect({ user: 'reader' }) })
    expect(await reader.minimum({ sensor: 'force', ...WHOLE })).to.equal(T0)
  })
}
