import { expect } from 'chai'
import { timeMs } from '../../gateway/doctor/databases/hana.js'
import { isTransient } from '../../gateway/databases/hana/sink.js'
import { batchOf, failureOf, identity, poisoned, rowOf, T0 } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { writerContract } from './contract/writer.js'
import { HanaDatabase } from './hana-database.js'

describe('SAP HANA sink, with a fake server', () => {
  const database = HanaDatabase.inSuite()
  const { openSink, rows, execute, stored } = database
  const made = (/** @type {string} */ columns) => `CREATE COLUMN TABLE "press" (${columns}) COMMENT 'Sluice'`

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: database.tables,
    elsewhere: database.openElsewhere,
    setBack: async seq => {
      stored('DELETE FROM sluice_commits WHERE seq >= ? AND sink_table <> \'\'', seq)
      stored('DELETE FROM press WHERE force >= ?', seq)
    },
    drop: table => execute(`DROP TABLE "${table}"`),
    execute,
    fixtures: {
      checked: made('"force" DOUBLE CHECK ("force" < 100)'),
      fits: made('"id" INTEGER DEFAULT 7, "count" BIGINT, "force" DOUBLE'),
      misfits: made('"force" INTEGER'),
      needs: made('"operator" NVARCHAR(100) NOT NULL'),
      view: 'CREATE VIEW "press" AS SELECT 1 AS "force"',
      foreign: 'CREATE COLUMN TABLE "press" ("force" DOUBLE)'
    },
    guarantee: 'transaction',
    hasColumns: true,
    layouts: ['narrow'],
    nan: null,
    ignoresCase: false,
    differs: {
      'stores the infinities, and NaN as the database can': 'it has no infinities: "refuses infinities, and texts that are too long"',
      'stores many rows of several batches and shapes in one write': 'its texts have 5000 letters at most: "stores more rows in one ' +
        'transaction than fit in a request, by bytes or by number"'
    }
  })

  retentionContract({
    open: openSink,
    rows,
    tells: true,
    layouts: ['narrow'],
    makeForeign: () => execute('CREATE COLUMN TABLE "press" ("force" DOUBLE, "time" TIMESTAMP, "time_ns" BIGINT)')
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => {
      await execute(made('"force" DOUBLE CHECK ("force" >= 0)'))
      return poisoned(batches, isPoison)
    },
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a wrong password', options: { password: 'password of nobody' }, tells: /authentication failed.*Check user and password/ },
      { what: 'no password', options: { password: '' }, tells: /asks for a password.*Enter the password/ },
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  it('keeps the time of a row as TIMESTAMP, with seven decimals, and all of it beside', async () => {
    await (await openSink()).write([batchOf([1, 2], { time: BigInt64Array.of(-1n, 1_700_000_000_123_456_789n) })])
    expect(stored('SELECT time, time_ns FROM press ORDER BY time_ns')).to.deep.equal([
      { time: '1969-12-31T23:59:59.9999999', time_ns: -1n },
      { time: '2023-11-14T22:13:20.1234567', time_ns: 1_700_000_000_123_456_789n }
    ].map(row => Object.assign(Object.create(null), row)))
  })

  it('refuses infinities, and texts that are too long', async () => {
    const sink = await openSink()
    const infinite = await failureOf(() => sink.write([batchOf([1, Infinity])]))
    expect([isTransient(infinite), infinite.faults.map((/** @type {any} */ { row }) => row)]).to.deep.equal([false, [1]])
    const long = await failureOf(() => sink.write([rowOf({ note: ['string', 'x'.repeat(5001)] })]))
    expect([isTransient(long), long.faults.map((/** @type {any} */ { row }) => row)]).to.deep.equal([false, [0]])
    await sink.write([batchOf([1])])
    expect(await rows('press')).to.have.length(1)
  })

  it('stores more rows in one transaction than fit in a request, by bytes or by number', async () => {
    const values = Array.from({ length: 40_000 }, (_, i) => i)
    await (await openSink()).write([batchOf(values, { identity: identity(0), tags: { line: 'x'.repeat(100) } })])
    expect(stored('SELECT COUNT(*) AS n, SUM(force) AS sum FROM press')).to.deep.include({ n: 40_000n, sum: 799_980_000 })
    expect(T0).to.equal(stored('SELECT MIN(time_ns) AS t FROM press')[0].t)
  })

  it('tells the doctor its time', async () => {
    expect(Math.abs(await timeMs(database.connect()) - Date.now())).to.be.below(60_000)
  })

  it('says in Test connection what it found, and that no real server was met', async () => {
    const told = await database.connect().test()
    expect(told).to.match(/^SAP HANA 2\.\S+ \(fake\), logged in as SLUICE, schema "SLUICE"\. .*never tested with a real/)
    const error = await failureOf(() => database.connect({ password: 'password of nobody' }).test())
    expect([error.code, error.fix]).to.deep.equal(['SLUICE_SINK_CONNECT', 'Check user and password.'])
    expect(error.message).to.not.include('password of nobody')
  })
})
