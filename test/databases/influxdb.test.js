import { expect } from 'chai'
import { pickOf, sliceOf } from '../../gateway/batch/batch.js'
import { Numbering } from '../../gateway/batch/numbering.js'
import { isTransient } from '../../gateway/databases/influxdb/sink.js'
import { deadLetter, toBatches } from '../../gateway/dead-letters/dead-letter.js'
import { startInfluxdb } from '../servers/influxdb.js'
import { at, batchOf, EPOCH, failureOf, identity, rangesOf, rowOf, T0, withPoison } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { writerContract } from './contract/writer.js'
import { docsSql } from './docs-sql.js'
import { daysSince, InfluxdbDatabase } from './influxdb-database.js'

const OVERWRITTEN = 'points of the same time overwrite each other: "tell what is stored from another batch under its identity, and from ' +
  'rows that were staged again"'
const SELDOM = 'a query before each write would cost much of the throughput: "are looked for once a second: a measurement that was set ' +
  'back is noticed, though nothing comes twice"'

describe('InfluxDB sink', () => {
  const database = InfluxdbDatabase.inSuite()
  const { openSink, query, rows, storeAll } = database

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: async () => {
      const { series = [] } = await query('SHOW MEASUREMENTS')
      return series.flatMap((/** @type {any} */ { values }) => values.flat())
        .filter((/** @type {string} */ name) => name !== 'sluice_commits')
    },
    elsewhere: () => openSink({ database: `${database.name} elsewhere` }),
    setBack: async seq => {
      await query(`DELETE FROM "sluice_commits" WHERE time >= ${seq} AND time < 1000`)
    },
    drop: async table => { await query(`DROP MEASUREMENT "${table}"`) },
    guarantee: 'keys',
    hasColumns: false,
    layouts: ['narrow'],
    nan: undefined,
    ignoresCase: false,
    differs: {
      'stores the infinities, and NaN as the database can': 'it has no infinities',
      'keeps nanoseconds over the whole range of time': 'a point has a field, and the ends of the range are not times',
      'stores tags as columns': 'it has no empty tags',
      'leaves out batches it has already': 'points of the same time overwrite each other',
      'stores every batch without identity': 'points of the same time overwrite each other',
      'still recognises each batch when records are compacted': 'points of the same time overwrite each other',
      'can be prepared by several at once': 'fields come with their first values',
      'tell a batch from another that has taken its identity': OVERWRITTEN,
      'know rows that were staged again, in parts, under another identity': OVERWRITTEN,
      'that are gone, as after a restore, stop the next write, and what is missing is stored again': SELDOM,
      'that are gone stop a write of rows without identity': SELDOM
    }
  })

  retentionContract({ open: openSink, rows, tells: false, layouts: ['narrow'] })

  it('removes no points where it would remove those of another retention policy, too', async () => {
    const sink = await storeAll(batchOf([1]))
    await query(`CREATE RETENTION POLICY yearly ON "${database.name}" DURATION INF REPLICATION 1`)
    await query('SELECT force INTO yearly.press FROM press')
    await sink.span?.()
    const error = await failureOf(async () => sink.removeBefore?.(T0 + 1n, { maxRows: 1 }))
    expect(error.code).to.equal('SLUICE_SINK_NOT_OWNED')
    expect(error.message).to.match(/"press" is in the retention policy "yearly", too.*nothing was removed.*duration/)
    expect(await rows('press')).to.have.length(1)
  })

  it('computes the roll-up of the documentation', async () => {
    await storeAll(batchOf([1, 2, 6]))
    await query(docsSql('docs/databases.md', /CONTINUOUS QUERY/).replace('ON plant', `ON "${database.name}"`))
    const { series } = await query('SHOW CONTINUOUS QUERIES')
    expect(JSON.stringify(series)).to.include('press_hourly')
    await query('SELECT mean("force") AS "mean", count("force") AS "count" INTO "press_hourly" FROM "press" GROUP BY time(1h), *')
    expect((await rows('press_hourly')).filter(({ count }) => count > 0)).to.have.length(1)
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    async poison (batches, isPoison) {
      await database.server.query(`CREATE DATABASE "${database.name}" WITH DURATION ${daysSince(T0) + 1000}d`)
      return withPoison(batches, isPoison, ({ time }, isOne) => ({ time: time.map((its, row) => isOne(row) ? BigInt(row) : its) }))
    },
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a wrong password', options: { password: 'password of nobody' }, tells: /authorization failed.*Check user and password/ },
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      {
        what: 'a retention policy that does not exist',
        options: { retentionPolicy: 'nowhere' },
        tells: /no retention policy "nowhere".*Create it/
      },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  describe('points', () => {
    it('keep nanoseconds, from one end of the range of times to the other', async () => {
      const time = [-(2n ** 63n) + 2n, -1001n, -1n, 0n, 999n, T0, T0 + 1n, 2n ** 63n - 2n]
      await storeAll(batchOf(time.map((_, i) => i), { time: BigInt64Array.from(time) }))
      expect((await rows('press')).map(row => row.time)).to.deep.equal(time)
    })

    it('cannot be infinite, or out of the range of times: just such rows are refused', async () => {
      const sink = await openSink()
      const batch = batchOf([1, Infinity, NaN, -Infinity, 5], { time: BigInt64Array.of(T0, T0 + 1n, T0 + 2n, T0 + 3n, 2n ** 63n - 1n) })
      const error = await failureOf(() => sink.write([batchOf([0]), batch]))
      const faults = error.faults.map((/** @type {any} */ { batch: its, row }) => [its === batch, row])
      expect(faults).to.deep.equal([[true, 1], [true, 3], [true, 4]])
      expect(error.message).to.match(/3 rows.*"force" is Infinity/)
      expect(isTransient(error)).to.equal(false)
      await sink.write([pickOf(batch, [0, 2])])
      expect(await rows('press')).to.deep.equal([{ time: T0, force: 1 }])
    })

    it('have no empty tags', async () => {
      await storeAll(batchOf([1], { tags: { line: 'Süd, \\x=1', shift: '' } }))
      expect(await rows('press')).to.deep.equal([{ time: T0, line: 'Süd, \\x=1', force: 1 }])
    })

    it('are refused under names and tags that the line protocol cannot express', async () => {
      const sink = await openSink()
      for (const batch of [
        batchOf([1], { source: 'a\nb' }),
        batchOf([1], { source: 'a\rb' }),
        batchOf([1], { source: '#a' }),
        batchOf([1], { tags: { folder: 'C:\\data\\' } }),
        rowOf({ 'a\\': ['bool', 1] })
      ]) {
        const error = await failureOf(() => sink.prepare([batch]))
        expect(error.code).to.equal('SLUICE_SINK_IDENTIFIER')
        expect(isTransient(error)).to.equal(false)
      }
    })

    it('of the same tags and time are all kept: in halves of a batch, as replayed dead letters, when they are written again', async () => {
      const numbering = new Numbering()
      const device = { values: ['a', 'b', 'a', 'a'], valid: null }
      const whole = numbering.numbered(batchOf([1, 2, 3, 4], { time: at(0, 0, 0, 5), tags: { device } }))
      const later = numbering.numbered(batchOf([5], { time: at(0), tags: { device: 'a' } }))
      const [first, second] = [[0, 2], [2, 4]].map(([from, to], seq) => whole.slice(from, to).withIdentity(identity(seq)))
      const letters = [whole.slice(2, 3), later].map(batch => JSON.parse(JSON.stringify(deadLetter(batch, 0, new Error('no')))))
      const replayed = letters.flatMap(letter => [...toBatches([letter])].map(({ batch }) => batch))
      const sink = await openSink()
      for (const batch of [first, second, later.withIdentity(identity(2))]) await sink.write([batch], { probe: true })
      await sink.write([second, first, later.withIdentity(identity(2))])
      expect((await rows('press')).map(({ force }) => force)).to.have.members([1, 2, 3, 4, 5])
      const sinkOfLetters = await openSink({ table: 'letters' })
      for (const batch of replayed) await sinkOfLetters.write([batch])
      expect(replayed.map(({ ordinals }) => ordinals?.[0])).to.deep.equal([1, 2])
      expect((await rows('letters')).map(({ force }) => force)).to.have.members([3, 5])
    })

    it('of the same time in one batch are all kept, and again when parts of it are written again', async () => {
      const batch = batchOf([1, 2, 3, 4], { time: at(0, 0, 5, 0), identity: identity(0) })
      const sink = await openSink()
      await sink.write([pickOf(batch, [1, 3]), sliceOf(batch, 0, 3)], { probe: true })
      await sink.write([batch])
      expect((await rows('press')).map(({ force }) => force)).to.have.members([1, 2, 4, 3])
      const { series } = await query('SELECT "force", "row" FROM press')
      const values = series[0].values.map((/** @type {any[]} */ [, force, row]) => [force, row])
      expect(values).to.have.deep.members([[1, null], [2, '1'], [4, '2'], [3, null]])
    })

    it('of the same time in two batches that no stage has compared are one: the later wins', async () => {
      const sink = await openSink()
      for (const [seq, value] of [[0, 1], [1, 2]]) await sink.write([batchOf([value], { identity: identity(seq) })])
      expect(await rows('press')).to.deep.equal([{ time: T0, force: 2 }])
    })

    it('of two gateways are kept apart', async () => {
      await storeAll(...['a', 'b'].map(gateway => batchOf([1], { identity: { ...EPOCH, gateway, seq: 0 } })))
      expect(await rows('press')).to.have.length(2)
      const { series } = await query('SHOW TAG VALUES FROM press WITH KEY = gateway')
      expect(series[0].values).to.deep.equal([['gateway', 'a'], ['gateway', 'b']])
    })

    it('have fields as tags where configured', async () => {
      const sink = await openSink({ tagFields: 'address, unit', table: 'bus' })
      await sink.write([rowOf({ address: ['int32', 17], unit: ['string', '°C'], value: ['float64', 1.5] })])
      const { series } = await query('SHOW SERIES')
      expect(series[0].values).to.deep.equal([['bus,address=17,source=press,unit=°C']])
    })
  })

  describe('types', () => {
    it('of a field stay: another is refused, and whole numbers fit into floats', async () => {
      const sink = await storeAll(rowOf({ level: ['float64', 0.5] }))
      await storeAll(rowOf({ level: ['int16', 3] }, { time: at(1) }))
      for (const type of /** @type {const} */ (['int64', 'string', 'bool'])) {
        const level = rowOf({ level: [type, type === 'int64' ? 1n : type === 'bool' ? 1 : 'x'] })
        const error = await failureOf(() => openSink().then(other => other.prepare([level])))
        expect(error.code).to.equal('SLUICE_SINK_TABLE_MISFIT')
        expect(error.message).to.match(/"press".*"level" is of type float/)
      }
      await sink.write([rowOf({ level: ['float64', 4] }, { time: at(2) })])
      expect((await rows('press')).map(({ level }) => level)).to.deep.equal([0.5, 3, 4])
    })

    it('of another retention policy do not matter', async () => {
      await storeAll(rowOf({ force: ['string', 'x'] }))
      await database.server.query(`CREATE RETENTION POLICY other ON "${database.name}" DURATION INF REPLICATION 1`)
      const sink = await openSink({ retentionPolicy: 'other' })
      await sink.prepare([batchOf([1])])
      await sink.write([batchOf([1])])
      expect(await rows('press', 'other')).to.deep.equal([{ time: T0, force: 1 }])
    })

    it('are read again when another sink has created them since', async () => {
      const sink = await openSink()
      const batch = batchOf([1])
      await sink.prepare([batch])
      await storeAll(rowOf({ force: ['string', 'x'] }))
      expect(isTransient(await failureOf(() => sink.write([batch])))).to.equal(true)
      expect((await failureOf(() => sink.prepare([batch]))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
    })
  })

  it('compresses where configured', async () => {
    const sink = await openSink({ compression: 'always' })
    await sink.write([batchOf(Array.from({ length: 20_000 }, (_, i) => i))])
    expect(await rows('press')).to.have.length(20_000)
  })

  it('ends a write that is aborted', async () => {
    const sink = await openSink()
    const numbers = Array.from({ length: 20_000 }, (_, i) => i)
    const batches = Array.from({ length: 5 }, (_, seq) => batchOf(numbers, { identity: identity(seq) }))
    await sink.prepare(batches)
    const abort = new AbortController()
    const write = failureOf(() => sink.write(batches, { signal: abort.signal }))
    setTimeout(() => abort.abort(new Error('closing')), 20)
    expect((await write).message).to.equal('closing')
    expect(rangesOf(await sink.committed())).to.deep.equal([])
  })

  it('sends less at once to a server that accepts no more', async () => {
    const small = await startInfluxdb({ settings: 'max-body-size = 20000' })
    try {
      const sink = await openSink({ port: small.port })
      await sink.write([batchOf(Array.from({ length: 5000 }, (_, i) => i))])
      expect((await small.query('SELECT count(force) FROM press', { db: database.name })).series[0].values[0][1]).to.equal(5000)
      const error = await failureOf(() => sink.write([rowOf({ note: ['string', 'x'.repeat(30_000)] })]))
      expect(error.message).to.match(/Entity Too Large/i)
      expect(isTransient(error)).to.equal(false)
    } finally {
      await small.remove()
    }
  })
})
