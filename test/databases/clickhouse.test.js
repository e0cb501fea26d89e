import { expect } from 'chai'
import { isTransient, open } from '../../gateway/databases/clickhouse/sink.js'
import { ClickhouseDatabase } from './clickhouse-database.js'
import { exactlyOnceTests } from './clickhouse-exactly-once.js'
import { batchOf, failureOf, rowOf, T0 } from './contract/batches.js'
import { docsSql } from './docs-sql.js'

describe('ClickHouse sink', () => {
  const database = ClickhouseDatabase.inSuite('modern')
  const { ask, connect, select, rows, openSink } = database
  database.contracts()
  exactlyOnceTests(database)

  it('creates tables that are sorted for reading and survive a loss of power', async () => {
    const engine = async (/** @type {string} */ table) =>
      (await select(`SELECT engine_full FROM system.tables WHERE database = 'sluice' AND name = '${table}'`))[0].engine_full
    for (const layout of ['wide', 'narrow', 'document']) {
      await (await openSink({ layout, table: `${layout} {source}` })).prepare([batchOf([1])])
    }
    for (const layout of ['wide', 'narrow']) await (await openSink({ layout, table: `all ${layout}` })).prepare([batchOf([1])])
    expect(await engine('wide press')).to.match(/^MergeTree ORDER BY \(time\) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1/)
    expect(await engine('narrow press')).to.match(/ORDER BY \(sensor, time\)/)
    expect(await engine('document press')).to.match(/ORDER BY \(time\)/)
    expect(await engine('all wide')).to.match(/ORDER BY \(source, time\)/)
    expect(await engine('all narrow')).to.match(/ORDER BY \(source, sensor, time\)/)
    expect(await engine('sluice_commits')).to.match(/fsync_after_insert = 1/)
    expect(
      await select('SELECT name, type FROM system.columns WHERE database = \'sluice\' AND table = \'narrow press\' ORDER BY position')
    ).to.deep.equal([
      { name: 'time', type: 'DateTime64(9, \'UTC\')' },
      { name: 'sensor', type: 'LowCardinality(String)' },
      { name: 'value', type: 'Nullable(Float64)' },
      { name: 'sluice_epoch', type: 'Int64' },
      { name: 'sluice_seq', type: 'Int64' },
      { name: 'sluice_batch', type: 'Array(Int64)' }
    ])
  })

  const meanwhile = {
    created: 'CREATE TABLE press (sluice_epoch Int64) ENGINE = MergeTree ORDER BY tuple()',
    dropped: 'DROP TABLE press'
  }
  for (const [what, sql] of Object.entries(meanwhile)) {
    it(`has its table where another has ${what} it between two questions about it`, async () => {
      if (what === 'dropped') await (await openSink()).prepare([batchOf([1])])
      const server = connect()
      const query = server.query.bind(server)
      let asked = 0
      server.query = async (question, asking) => {
        if (/system\.(tables|columns).*'press'/.test(question) && ++asked === 2) await ask(sql)
        return query(question, asking)
      }
      const sink = await open({}, { server })
      await sink.prepare([batchOf([1])])
      await sink.write([batchOf([1])])
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([1])
      await sink.close()
    })
  }

  it('computes the roll-up of the documentation, which outlives the rows', async () => {
    const [create, read] = docsSql('docs/databases.md', /AggregatingMergeTree/).split(';').filter(sql => sql.trim() !== '')
    const sink = await openSink()
    await sink.prepare([batchOf([1])])
    await ask(create)
    await sink.write([batchOf([1, 2, 6], { identity: { gateway: 'gw', source: 'press', epoch: '1-a', seq: 0 } })])
    await sink.span?.()
    await sink.removeBefore?.(T0 + 10n, { maxRows: 1 })
    expect(await rows('press')).to.deep.equal([])
    expect((await select(read)).map(row => Object.values(row).slice(1).map(Number))).to.deep.equal([[3, 1, 6, 3]])
  })

  it('makes dictionaries of tags, whether all rows of the first batch have them or each its own', async () => {
    const device = { values: ['a', '', 'b'], valid: Uint8Array.of(1, 0, 1) }
    for (const layout of ['wide', 'narrow', 'document']) {
      const sink = await openSink({ layout, table: `${layout} {source}` })
      for (const batch of [batchOf([1, 2, 3], { tags: { line: '7', device } }), batchOf([4], { tags: { line: '8', device: 'c' } })]) {
        await sink.prepare([batch])
        await sink.write([batch])
      }
      const table = `${layout} press`
      const columns = `SELECT name, type FROM system.columns WHERE database = 'sluice' AND table = '${table}'`
      const expected = ['device', 'line'].map(name => ({ name, type: 'LowCardinality(Nullable(String))' }))
      expect(await select(`${columns} AND name IN ('line', 'device') ORDER BY name`)).to.deep.equal(expected)
      expect((await select(`SELECT line, device FROM "${table}"`)).map(({ line, device: its }) => `${line} ${its}`)).to.have.members([
        '7 a', '7 null', '7 b', '8 c'
      ])
    }
  })

  it('stores texts of few and of many distinct values in a dictionary', async () => {
    for (const kinds of [1, 255, 256, 70_000]) {
      await ask('DROP TABLE IF EXISTS press')
      await ask('CREATE TABLE press (sluice_epoch Int64, time DateTime64(9), text LowCardinality(String), ' +
        'some LowCardinality(Nullable(String))) ' +
        'ENGINE = MergeTree ORDER BY time')
      const sink = await openSink()
      const texts = Array.from({ length: 70_000 }, (_, i) => `text ${i % kinds}`)
      await sink.write([batchOf(texts.map(() => 0), {
        fields: [{ name: 'text', type: 'string' }, { name: 'some', type: 'string' }],
        columns: [texts, texts],
        validity: [null, Uint8Array.from(texts, (_, i) => i % 2)]
      })])
      expect(
        await select('SELECT uniqExact(text) AS kinds, countIf(text = some) AS same, countIf(some IS NULL) AS missing FROM press')
      ).to.deep.equal([{ kinds, same: 35_000, missing: 35_000 }])
    }
  })

  it('widens whole numbers and float32 into columns that hold them exactly', async () => {
    await ask('CREATE TABLE press (sluice_epoch Int64, a Int64, b Float64, c Float64, d Nullable(Int64), ' +
      'e LowCardinality(String), f UInt8) ' +
      'ENGINE = MergeTree ORDER BY tuple()')
    await (await openSink()).write([rowOf({
      a: ['int32', -2147483648],
      b: ['uint16', 65535],
      c: ['float32', 0.5],
      d: ['int16', -7],
      e: ['string', 'abc'],
      f: ['bool', 1]
    })])
    expect(await select('SELECT a, b, c, d, e, f FROM press')).to.deep.equal([{ a: -2147483648, b: 65535, c: 0.5, d: -7, e: 'abc', f: 1 }])
  })

  it('reads a table\'s columns again when one has changed its type', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1])])
    await ask('ALTER TABLE press MODIFY COLUMN force Nullable(Float32)')
    expect(isTransient(await failureOf(() => sink.write([batchOf([0.1])])))).to.equal(true)
    const error = await failureOf(() => sink.prepare([batchOf([0.1])]))
    expect(error.message).to.match(/Nullable\(Float32\)/)
    expect(isTransient(error)).to.equal(false)
    expect(await rows('press')).to.have.length(1)
  })

  it('refuses what a constraint of the table does not allow', async () => {
    await ask('CREATE TABLE press (sluice_epoch Int64, force Float64, CONSTRAINT low CHECK force < 100) ' +
      'ENGINE = MergeTree ORDER BY tuple()')
    const sink = await openSink()
    for (const probe of [true, false]) {
      const error = await failureOf(() => sink.write([batchOf([1, 1000])], { probe }))
      expect(error.message).to.match(/low.*violated/)
      expect(isTransient(error)).to.equal(false)
    }
    expect(await rows('press')).to.deep.equal([])
  })

  it('compresses what it sends', async () => {
    for (const compression of ['gzip', 'zstd']) await (await openSink({ compression })).write([batchOf([1, 2])])
    expect(await select('SELECT count() AS count, sum(force) AS sum FROM press')).to.deep.equal([{ count: 4, sum: 6 }])
  })

  it('reports what it is, and what a user may not do', async () => {
    expect(await database.connect().test()).to.match(/^ClickHouse 26\.7\.[\d.]+, database "sluice", logged in as "sluice"\.$/)
    expect(await database.connect({ user: 'reader' }).test()).to.match(/may not create tables/)
  })

  it('reports what is wrong with the connection', async () => {
    /** @type {[object, RegExp][]} */
    const cases = [
      [{ password: 'wrong' }, /Authentication failed.*Check user and password/],
      [{ password: '' }, /asks for a password, and none is given.*Enter the password of the user/],
      [{ database: 'nowhere' }, /nowhere.*Create the database/],
      [{ host: 'no-such-host.invalid' }, /no-such-host\.invalid.*Check the host name/],
      [{ port: 1 }, /127\.0\.0\.1:1.*Check host and port/],
      [{ tls: 'require' }, /Check the port and whether the server expects TLS/]
    ]
    for (const [options, text] of cases) {
      const error = await failureOf(() => database.connect(options).test())
      expect(error.message).to.match(text).and.not.to.include(database.server.password)
      expect(error.fix).to.be.a('string')
    }
  })

  it('waits for a missing permission', async () => {
    const denied = await failureOf(async () => (await openSink({ user: 'reader' })).prepare([batchOf([1])]))
    expect(denied.message).to.match(/readonly/)
    expect(isTransient(denied)).to.equal(true)
  })

  it('writes on several connections at a time', async () => {
    const sink = await openSink({ connections: 3 })
    await Promise.all(Array.from({ length: 30 }, (_, seq) =>
      sink.write([batchOf([seq], { identity: { gateway: 'gw', source: 'press', epoch: '1', seq } })])))
    expect(await rows('press')).to.have.length(30)
  })
})
