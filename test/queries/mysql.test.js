import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { withDefaults } from '../../gateway/base/defaults.js'
import { isTransient, open as openSink } from '../../gateway/databases/mysql/sink.js'
import { readDialect } from '../../gateway/databases/mysql/dialect.js'
import { open, READ_COLUMNS } from '../../gateway/databases/mysql/reader.js'
import { schema } from '../../gateway/databases/mysql/reader.schema.js'
import { TableStatements } from '../../gateway/databases/sql/table-statements.js'
import { batchOf, failureOf, rowOf, T0 } from '../databases/contract/batches.js'
import { MysqlDatabase } from '../databases/mysql-database.js'
import { lookupContract } from './lookups.js'
import { papersSqlTests } from './papers-sql.js'
import { storedContract, storing, WHOLE } from './stored.js'

const NOTES = 20_000

describe('MySQL reader', () => {
  const database = MysqlDatabase.inSuite()
  const { query } = database

  const stored = storing(database, open, { connections: 2 })
  const { store, open: openReader } = stored

  const samples = async (/** @type {object} */ options, sensor = 'force') => {
    const reader = await openReader(options)
    const found = []
    for await (const page of reader.samples({ sensors: [sensor], ...WHOLE })) found.push(...page)
    return found
  }

  const values = async (/** @type {object} */ options, sensor = 'force') => (await samples(options, sensor)).map(({ value }) => value)

  /** More than the buffers between server and reader hold. */
  const storeNotes = () =>
    store({}, batchOf(Array(NOTES).fill(0), { fields: [{ name: 'note', type: 'string' }], columns: [Array(NOTES).fill('.'.repeat(600))] }))

  /** What the server does for connections other than the test's own. */
  const running = async () => (await query(`SELECT COMMAND AS command FROM information_schema.PROCESSLIST
    WHERE ID <> CONNECTION_ID() AND USER = 'sluice' AND COMMAND <> 'Sleep'`)).length

  storedContract(stored, ['wide', 'narrow', 'document'])
  lookupContract(stored)
  papersSqlTests({ ...stored, select: query, time: 'time_ns', stddev: 'stddev_samp(value)' })

  describe('of the paper\'s tables', () => {
    const second = 1_518_465_409_000_000_000n
    // Listing 2 of the paper, and the second after.
    const time = BigInt64Array.of(second + 346_851_124n, second + 346_933_204n, second + 1_000_000_000n)
    const columns = [[389, 516, 0], [792, 794, 2], [602, 634, 4], [315, 317, 10], [552, 559, 351]].map(column => Uint16Array.from(column))
    const fields = columns.map((_, i) => ({ name: `m${i}`, type: /** @type {const} */ ('uint16') }))
    const listing = () => batchOf([0, 0, 0], { time, fields, columns })

    for (const layout of ['paper-individual', 'paper-bulk']) {
      it(`finds all that ${layout} stores, by the numbers of the fields`, async () => {
        await store({ layout }, listing())
        const reader = await openReader({ layout })
        const read = async (/** @type {string[]} */ sensors, /** @type {object} */ range = {}) => {
          const found = []
          for await (const page of reader.samples({ sensors, ...WHOLE, ...range })) found.push(...page)
          return found
        }
        const all = Array.from(time, (at, row) => columns.map((column, i) => ({ time: at, sensor: String(i), value: column[row] }))).flat()
        expect(await read(['0', '1', '2', '3', '4'])).to.deep.equal(all)
        expect(await read(['4', 'm4', '5'], { from: time[1], to: time[2] })).to.deep.equal([{ time: time[1], sensor: '4', value: 559 }])
        expect(await reader.edge({ sensor: '0', ...WHOLE, above: 400 })).to.equal(time[1])
        expect(await reader.edge({ sensor: '0', ...WHOLE, below: 400, last: true })).to.equal(time[2])
        expect(await reader.minimum({ sensor: '3', from: 0n, to: time[2] })).to.equal(time[0])
        const seconds = { sensors: ['1'], ...WHOLE, bucketNs: 1_000_000_000n }
        expect(await reader.summaries({ ...seconds, statistics: ['count', 'mean'] })).to.deep.equal([
          { time: second, sensor: '1', count: 2, mean: 793 }, { time: second + 1_000_000_000n, sensor: '1', count: 1, mean: 2 }
        ])
        expect(await reader.sensors?.(WHOLE)).to.deep.equal(['0', '1', '2', '3', '4'])
      })
    }

    it('refuses a layout that it does not know', async () => {
      const error = await failureOf(() => openReader({ layout: 'paper-wholesale' }))
      expect(error.code).to.equal('SLUICE_OPTIONS')
    })
  })

  it('leaves a connection to the sinks, however many queries are read slowly', async () => {
    await storeNotes()
    const server = database.connect({ connections: 2 })
    const [reader, sink] = [await open({ table: 'press' }, { server }), await openSink({}, { server })]
    const pages = () => reader.samples({ sensors: ['note'], ...WHOLE, pageRows: 10 })
    const [first, second] = [pages(), pages()]
    await first.next()
    const waiting = second.next()
    await sink.write([rowOf({ note: ['string', '!'] }, { time: BigInt64Array.of(T0 - 1n) })])
    await first.return()
    expect((await waiting).value).to.have.length(10)
    await second.return()
  })

  it('lets others write to a table while a slow query keeps a column from being added', async () => {
    await storeNotes()
    const reader = await openReader()
    const slow = reader.samples({ sensors: ['note'], ...WHOLE, pageRows: 10 })
    await slow.next()
    const [growing, other] = [await database.openSink({}), await database.openSink({})]
    const grown = failureOf(() => growing.write([batchOf([1])]))
    await other.write([rowOf({ note: ['string', '!'] })])
    expect((await grown).message).to.match(/[Ll]ock wait timeout/)
    expect(isTransient(await grown)).to.equal(true)
    await slow.return()
    await growing.write([batchOf([1])])
  })

  it('reads one of several sources in a table', async () => {
    await store({ table: 'all' }, batchOf([1, 2]), batchOf([3], { source: 'oven' }))
    expect(await values({ table: 'all', source: 'oven' })).to.deep.equal([3])
    expect(await values({ table: 'all' })).to.have.members([1, 2, 3])
  })

  it('reads tables and views that other programs have created', async () => {
    await query('CREATE TABLE press (at DATETIME(6), sensor_id INT, reading FLOAT)')
    await query(`INSERT INTO press VALUES
      ('2023-11-14 22:13:20.123456', 17, 0.1), ('1969-12-31 23:59:59.999999', 17, 2.5), (UTC_TIMESTAMP(), 18, 1)`)
    await query('CREATE VIEW last AS SELECT at, CAST(sensor_id AS CHAR) AS sensor_id, CAST(reading AS DECIMAL(9, 1)) AS reading FROM press')
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

  it('distinguishes sensors that MySQL compares as equal', async () => {
    await store({ layout: 'narrow' }, rowOf({ a: ['float64', 1], A: ['float64', 2], ä: ['float64', 3], 'a ': ['float64', 4] }))
    for (const [sensor, value] of /** @type {[string, number][]} */ ([['a', 1], ['A', 2], ['ä', 3], ['a ', 4]])) {
      expect(await values({ layout: 'narrow' }, sensor), sensor).to.deep.equal([value])
    }
    const summaries = await (await openReader({ layout: 'narrow' })).summaries({ sensors: ['a ', 'a'], ...WHOLE, statistics: ['max'] })
    expect(summaries.map(({ sensor, max }) => [sensor, max])).to.deep.equal([['a ', 4], ['a', 1]])
  })

  for (const layout of ['wide', 'narrow']) {
    it(`finds a ${layout} range by its key, in whatever it asks`, async () => {
      await store({ layout }, batchOf(
        Array.from({ length: 20_000 }, (_, i) => i),
        { time: BigInt64Array.from({ length: 20_000 }, (_, i) => T0 + BigInt(i) * 1_000_000n) }
      ))
      await query('ANALYZE TABLE press')
      const options = /** @type {any} */ (withDefaults(schema, { table: 'press', layout }))
      const table = new TableStatements(options, '`press`', await query(READ_COLUMNS, ['press']), readDialect)
      const range = { sensor: 'force', from: T0 + 10_000_000_000n, to: T0 + 10_100_000_000n }
      const statements = {
        samples: table.samples(['force'], range),
        summaries: table.summaries(['force'], { ...range, bucketNs: 1_000_000n }, ['count', 'mean', 'stddev'], 1000),
        first: table.edge({ ...range, above: 5 }),
        last: table.edge({ ...range, below: 5, last: true }),
        minimum: table.minimum(range)
      }
      for (const [what, { sql, values: parameters }] of Object.entries(statements)) {
        const [plan] = await query(`EXPLAIN ${sql}`, parameters)
        expect([plan.type, plan.key], what).to.deep.equal(['range', 'PRIMARY'])
        expect(Number(plan.rows), what).to.be.below(500)
        if (what !== 'minimum' && what !== 'summaries') expect(plan.Extra, what).not.to.include('filesort')
      }
    })
  }

  it('ends an aborted query at the server, too', async () => {
    await store({}, batchOf([1]))
    await query('LOCK TABLES press WRITE')
    const abort = new AbortController()
    const reader = await openReader()
    const waiting = failureOf(() => reader.summaries({ sensors: ['force'], ...WHOLE, statistics: ['mean'], signal: abort.signal }))
    while (await running() === 0) await sleep(5)
    await sleep(50)
    abort.abort(new Error('closing'))
    expect((await waiting).message).to.equal('closing')
    while (await running() > 0) await sleep(10)
    await query('UNLOCK TABLES')
    expect(await values({})).to.deep.equal([1])
  })

  it('leaves no query running, whether read to the end or not', async () => {
    await storeNotes()
    const reader = await openReader()
    for (let i = 0; i < 5; i++) {
      for await (const page of reader.samples({ sensors: ['note'], ...WHOLE, pageRows: 10 })) {
        if (page[0].time === T0 + 10n) break
      }
    }
    while (await running() > 0) await sleep(10)
  })

  it('fetches no more than is asked for, and sees one state of the table', async () => {
    await storeNotes()
    let read = 0
    for await (const page of (await openReader()).samples({ sensors: ['note'], ...WHOLE, pageRows: 1000 })) {
      if (read === 0) {
        await store({}, rowOf({ note: ['string', 'new'] }, { time: BigInt64Array.of(T0 + 100_000_000n) }))
        await sleep(100)
        expect(await running(), 'the server waits with the rest of its rows').to.equal(1)
      }
      read += page.length
    }
    expect(read).to.equal(NOTES)
  })

  it('reports that the server stopped in the middle of a reading', async () => {
    await storeNotes()
    const reader = await openReader()
    const error = await failureOf(async () => {
      let read = 0
      for await (const { length } of reader.samples({ sensors: ['note'], ...WHOLE, pageRows: 1000 })) {
        if ((read += length) === 2000) await database.server.kill()
      }
    })
    expect(error.code).to.equal('SLUICE_QUERY_MYSQL')
    await database.server.start()
    await database.reconnect()
    expect((await (await openReader()).edge({ sensor: 'note', ...WHOLE, above: 0 }))).to.equal(null)
  })

  it('reports what is missing: the table, a column, the server', async () => {
    const messageOf = async (/** @type {object} */ options) => (await failureOf(() => values(options))).message
    expect(await messageOf({})).to.match(/The table `press` does not exist\. Check table and database/)
    await store({}, batchOf([1]))
    expect(await messageOf({ timeColumn: 'at' })).to.match(/no column `at`/)
    expect(await messageOf({ timeColumn: 'force' })).to.match(/`force`.*is of type double.*Set a time column of type datetime/)
    expect(await messageOf({ source: 'press' })).to.match(/no column `source`/)
    expect(await messageOf({ layout: 'narrow' })).to.match(/no column `sensor`/)
    expect(await messageOf({ layout: 'document' })).to.match(/no column `measurements`/)
    const nowhere = database.connect({ port: 1 })
    expect((await failureOf(async () => (await open({}, { server: nowhere })).minimum({ sensor: 'force', ...WHOLE }))).message).to.match(
      /No connection.*ECONNREFUSED/
    )
  })
})
