import { expect } from 'chai'
import { isTransient } from '../../gateway/databases/clickhouse/sink.js'
import { ClickhouseDatabase } from './clickhouse-database.js'
import { exactlyOnceTests } from './clickhouse-exactly-once.js'
import { batchOf, failureOf, T0 } from './contract/batches.js'

describe('ClickHouse sink on an old server', () => {
  const database = ClickhouseDatabase.inSuite('old')
  const { select, openSink } = database
  database.contracts()
  exactlyOnceTests(database)

  it('stores whole seconds in the column time, as far as its range goes, and exact times in time_ns', async () => {
    const sink = await openSink()
    const time = [-1n, 999_999_999n, T0, 1_700_000_000_999_999_999n, 5_000_000_000_000_000_000n]
    await sink.write([batchOf([1, 2, 3, 4, 5], { time: BigInt64Array.from(time) })])
    const rows = await select('SELECT toUInt32(time) AS second, time_ns FROM press ORDER BY time_ns')
    expect(rows.map(({ second, time_ns: ns }) => [second, BigInt(ns)])).to.deep.equal([
      [0, -1n],
      [0, 999_999_999n],
      [1_700_000_000, T0],
      [1_700_000_000, time[3]],
      [4_294_967_295, time[4]]
    ])
  })

  it('reports what it is', async () => {
    expect(await database.connect().test()).to.match(
      /^ClickHouse 18\.16\.\d+, database "sluice", logged in as "sluice"\. It is an old server/
    )
  })

  it('compresses what it sends, with gzip instead of zstd', async () => {
    for (const compression of ['gzip', 'zstd']) await (await openSink({ compression })).write([batchOf([1, 2])])
    expect(await select('SELECT count() AS count, sum(force) AS sum FROM press')).to.deep.equal([{ count: 4, sum: 6 }])
  })

  it('encrypts, and verifies the server', async () => {
    const { tlsPort: port, ca } = database.server
    for (const options of [{ tls: 'require' }, { tls: 'verify', ca }]) await (await openSink({ port, ...options })).write([batchOf([1])])
    for (const [options, text] of /** @type {[object, RegExp][]} */ ([
      [{ port, tls: 'verify' }, /unable to verify the first certificate.*Set the CA certificate/],
      [{ port, tls: 'verify', ca: '/no/such.pem' }, /no\/such\.pem/],
      [{ port }, /Check the port and whether the server expects TLS/],
      [{ tls: 'require' }, /Check the port and whether the server expects TLS/]
    ])) {
      const error = await failureOf(async () => (await openSink(options)).committed())
      expect(error.message).to.match(text)
      expect(isTransient(error)).to.equal(true)
    }
  })
})
