import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { Batch, pickOf, sliceOf } from '../../gateway/batch/batch.js'
import { open, isTransient } from '../../gateway/databases/mongodb/sink.js'
import { connect } from '../../gateway/databases/mongodb/connection.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { requireServer } from '../servers/programs.js'
import { ALL_NEW, batchOf, EPOCH, failureOf, identity, poisoned, rangesOf, rowOf, T0 } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { upsertContract } from './contract/upserts.js'
import { writerContract } from './contract/writer.js'

describe('MongoDB sink', () => {
  /** @type {import('../servers/mongodb.js').MongodbServer} */
  let server
  /** @type {MongoClient} */
  let client
  /** @type {{close: () => Promise<void>}[]} */
  let opened
  /** @type {string} */
  let database
  let tests = 0

  before(async function () {
    requireServer(this, 'mongodb', missingMongodb())
    server = await startMongodb()
    client = new MongoClient(server.url)
  })

  after(async () => {
    await client?.close()
    await server?.remove()
  })

  beforeEach(() => {
    opened = []
    database = `test${++tests}` // dropping a database takes the server longer than creating one
  })

  afterEach(async () => {
    for (const each of opened) await each.close()
  })

  /** @param {object} [options]  of the sink and of the server @param {string[]} [log] */
  const openSink = async (options = {}, log = []) => {
    const say = (/** @type {string} */ text) => { log.push(text) }
    const context = { log: { info: say, warn: say, error: say } }
    const connected = connect({ url: `${server.url}/?serverSelectionTimeoutMS=1000`, database, ...options }, context)
    const sink = await open(/** @type {any} */ (options), { server: connected, ...context })
    opened.push(sink, connected)
    return sink
  }

  const documents = (/** @type {string} */ collection) => {
    const found = client.db(database).collection(collection).find({}, { useBigInt64: true, promoteBuffers: true })
    return found.sort({ time_ns: 1, _id: 1 }).toArray()
  }

  /** @param {string} collection */
  const rows = async collection => {
    const stored = await documents(collection)
    const keys = [...new Set(stored.flatMap(document => Object.keys(document)))].filter(key => !['_id', 'time', 'time_ns'].includes(key))
    return stored.map(({ _id, time: _time, time_ns: time, ...values }) => {
      const row = Object.fromEntries(keys.map(key => [key, plain(values[key])]))
      const { fields, measurements, ...rest } = row
      return { time, ...row, ...fields && { ...rest, measurements: { fields, measurements } } }
    })
  }

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: async () => {
      const collections = await client.db(database).listCollections().toArray()
      return collections.map(({ name }) => name).filter(name => name !== 'sluice_commits')
    },
    elsewhere: () => openSink({ database: `${database}elsewhere` }),
    setBack: async seq => {
      await client.db(database).collection('sluice_commits').deleteMany({ of: { $exists: true }, seq: { $gte: seq } })
      await client.db(database).collection('press').deleteMany({ force: { $gte: seq } })
    },
    drop: async collection => { await client.db(database).dropCollection(collection) },
    guarantee: 'keys',
    hasColumns: false,
    layouts: ['narrow', 'document'],
    nan: undefined,
    ignoresCase: false,
    differs: {
      'stores the infinities, and NaN as the database can': 'MongoDB stores them; FerretDB takes no NaN, and refuses the infinities',
      'stores under names that look like SQL': 'FerretDB makes invalid JSON of keys with a quotation mark',
      'can be prepared by several at once': 'a document has no keys before it has values'
    }
  })

  retentionContract({ open: openSink, rows, tells: true, layouts: ['narrow', 'document', 'paper-individual', 'paper-bulk'] })

  upsertContract({
    open: openSink,
    isTransient,
    rows,
    forget: () => client.db(database).collection('sluice_commits').deleteMany({ of: { $exists: true } })
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => poisoned(batches, isPoison, Infinity),
    server: {
      stop: () => server.stop(),
      start: () => server.start()
    },
    wrong: [
      {
        what: 'a wrong password',
        options: { get url () { return `${server.url}/?authMechanism=PLAIN` }, user: 'postgres', password: 'password of nobody' },
        tells: /authentication failed.*Check user and password/
      },
      {
        what: 'a host that does not answer',
        options: { url: 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300' },
        tells: /ECONNREFUSED.*Check the URL/
      }
    ]
  })

  it('rounds time down to milliseconds', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1, 2, 3], { time: BigInt64Array.of(-1n, 0n, 1_700_000_000_123_999_999n) })])
    const times = (await documents('press')).map(({ time }) => time.toISOString())
    expect(times).to.deep.equal(['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', '2023-11-14T22:13:20.123Z'])
  })

  it('stores in the server\'s own types', async () => {
    const sink = await openSink()
    await sink.write([rowOf({
      d: ['float32', 0.5],
      i: ['uint16', 7],
      l: ['int64', 7n],
      b: ['bool', 1],
      s: ['string', 'x'],
      x: ['bytes', Uint8Array.of(1)]
    })])
    const ofType = async (/** @type {string} */ key, /** @type {string} */ type) => {
      return client.db(database).collection('press').countDocuments({ [key]: { $type: type } })
    }
    const fields = { d: 'double', i: 'int', l: 'long', b: 'bool', s: 'string', x: 'binData' }
    for (const [key, type] of Object.entries({ _id: 'binData', time: 'date', time_ns: 'long', ...fields })) {
      expect(await ofType(key, type), key).to.equal(1)
    }
  })

  it('stores names with full stops and dollars so that queries can use them', async () => {
    const sink = await openSink()
    const source = '\'; DROP "x" --'
    await sink.write([rowOf({
      'motor.speed': ['float64', 1], $state: ['string', 'on'], a$b: ['int32', 2], _id: ['int32', 3], __proto__x: ['int32', 4]
    }, { source, tags: { 'plant.line': '"7"' } })])
    expect(await rows(source)).to.deep.equal([
      { time: T0, 'plant．line': '"7"', 'motor．speed': 1, '＄state': 'on', a$b: 2, '_id~field': 3, __proto__x: 4 }
    ])
    const twice = await failureOf(() => sink.prepare([rowOf({ 'a.b': ['int32', 1], 'a．b': ['int32', 2] })]))
    expect(twice.message).to.match(/two fields.*"a．b".*Rename/)
    expect(isTransient(twice)).to.equal(false)
  })

  it('refuses collections that MongoDB cannot have', async () => {
    const sink = await openSink()
    for (const source of ['a$b', 'system.users', '.a', 'a..b', 'a.', 'x'.repeat(250)]) {
      const error = await failureOf(() => sink.prepare([batchOf([1], { source })]))
      expect([error.code, isTransient(error)], source).to.deep.equal(['SLUICE_SINK_IDENTIFIER', false])
    }
  })

  it('creates its index once, or none', async () => {
    const keysOf = async (/** @type {string} */ name) => (await client.db(database).collection(name).indexes()).map(({ key }) => key)
    for (const layout of ['wide', 'narrow', 'document', 'wide', 'narrow', 'document']) {
      await (await openSink({ layout, table: layout })).prepare([batchOf([1])])
    }
    const none = await openSink({ table: 'none', index: false })
    await none.prepare([batchOf([1])])
    expect(await keysOf('wide')).to.deep.equal([{ _id: 1 }, { time_ns: 1 }])
    expect(await keysOf('narrow')).to.deep.equal([{ _id: 1 }, { sensor: 1, time_ns: 1 }])
    expect(await keysOf('document')).to.deep.equal([{ _id: 1 }, { time_ns: 1 }])
    expect(await keysOf('none')).to.deep.equal([{ _id: 1 }])
  })

  it('reports that there are no time-series collections, waits, and warns that they store at least once', async () => {
    /** @type {string[]} */
    const log = []
    const sink = await openSink({ layout: 'timeseries' }, log)
    const error = await failureOf(() => sink.prepare([batchOf([1])]))
    expect(error.message).to.match(/has no time-series collections.*Set another layout/)
    expect(isTransient(error)).to.equal(true)
    expect(log.join()).to.match(/at least once/)
  })

  describe('rows written earlier', () => {
    for (const layout of ['wide', 'narrow', 'document']) {
      it(`are recognised after a crash before the commit record: ${layout}`, async () => {
        const batch = new Batch({
          source: 'press',
          time: BigInt64Array.of(T0, T0 + 1n, T0 + 2_000_000_000n),
          fields: [{ name: 'a', type: 'float64' }, { name: 'b', type: 'int32' }],
          columns: [Float64Array.of(1, 2, 3), Int32Array.of(4, 5, 6)],
          identity: identity(0)
        })
        await (await openSink({ layout })).write([batch])
        const before = await documents('press')
        await client.db(database).collection('sluice_commits').deleteMany({})
        const later = await openSink({ layout })
        expect(await later.write([batch])).to.deep.equal(ALL_NEW)
        expect(await documents('press')).to.deep.equal(before).and.to.have.length({ wide: 3, narrow: 6, document: 2 }[layout] ?? 0)
        expect(rangesOf(await later.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
      })
    }

    it('lose nothing where the interval is changed, or the layout, after a crash before the commit record', async () => {
      const [before, after] = [0, 1].map(seconds => T0 - T0 % 1_000_000_000n + BigInt(seconds) * 1_000_000_000n)
      const batch = batchOf([1, 2, 3], { identity: identity(0), time: BigInt64Array.of(before, before + 500_000_000n, after) })
      for (const options of [{ table: 'shorter', layout: 'document', intervalMs: 500 }, { table: 'wide' }]) {
        const crashed = await openSink(options)
        await crashed.write([sliceOf(batch, 0, 1)])
        await client.db(database).collection('sluice_commits').deleteMany({})
        await (await openSink({ table: options.table, layout: 'document', intervalMs: 1000 })).write([batch])
        const values = (await documents(options.table)).flatMap(({ measurements = [] }) => {
          return measurements.map((/** @type {any} */ { m }) => m[0])
        })
        expect(values, options.table).to.include.members([1, 2, 3])
      }
    })

    it('are not taken for those of another batch under the same identity, which is stored beside them', async () => {
      await (await openSink()).write([batchOf([1, 2], { identity: { ...identity(0), hash: 1 } })])
      await client.db(database).collection('sluice_commits').deleteMany({})
      const other = batchOf([3, 4], { identity: { ...identity(0), hash: 2 } })
      expect(await (await openSink()).write([other])).to.deep.equal(ALL_NEW)
      expect((await rows('press')).map(({ force }) => force)).to.have.members([1, 2, 3, 4])
    })

    it('are distinguished from those that another unique index refuses', async () => {
      await client.db(database).createIndex('press', { force: 1 }, { unique: true })
      const sink = await openSink()
      await sink.write([batchOf([1, 2], { identity: identity(0) })])
      await client.db(database).collection('sluice_commits').deleteMany({})
      const again = batchOf([1, 2], { identity: identity(0) })
      const other = batchOf([3, 2, 4], { identity: identity(1) })
      const later = await openSink()
      const error = await failureOf(() => later.write([again, other]))
      expect(error.faults.map((/** @type {any} */ { batch, row }) => [batch, row])).to.deep.equal([[other, 1]])
      expect(error.message).to.match(/E11000/)
    })

    it('are not written again when others are refused, with an identity or without', async () => {
      for (const more of [{ identity: identity(0) }, {}]) {
        const batch = batchOf([1, Infinity, 3], { source: `s${Object.keys(more).length}`, ...more })
        const sink = await openSink()
        expect((await failureOf(() => sink.write([batch]))).faults.map((/** @type {any} */ { row }) => row)).to.deep.equal([1])
        await sink.write([pickOf(batch, [0, 2])])
        expect((await rows(batch.source)).map(({ force }) => force)).to.deep.equal([1, 3])
      }
    })

    it('are atomic: a narrow row with a refused value leaves no value', async () => {
      const sink = await openSink({ layout: 'narrow' })
      const batch = new Batch({
        source: 'press',
        time: BigInt64Array.of(T0, T0 + 1n),
        fields: [{ name: 'a', type: 'float64' }, { name: 'b', type: 'float64' }],
        columns: [Float64Array.of(1, 2), Float64Array.of(Infinity, 3)],
        identity: identity(0)
      })
      expect((await failureOf(() => sink.write([batch]))).faults).to.have.length(1)
      await sink.write([pickOf(batch, [1])])
      const stored = (await rows('press')).map(({ time, sensor, value }) => [time, sensor, value])
      expect(stored).to.deep.equal([[T0 + 1n, 'a', 2], [T0 + 1n, 'b', 3]])
    })
  })

  describe('what FerretDB cannot store', () => {
    it('NaN is left out, and logged once', async () => {
      /** @type {string[]} */
      const log = []
      const sink = await openSink({}, log)
      for (let i = 0; i < 2; i++) await sink.write([new Batch({ ...batchOf([NaN, 2, 3]), validity: [Uint8Array.of(1, 1, 0)] })])
      expect((await rows('press')).map(({ force }) => force)).to.have.members([null, 2, null, null, 2, null])
      expect(log.filter(line => line.includes('NaN'))).to.have.length(1)
      expect(log.join()).to.match(/FerretDB.*NaN/)
    })

    it('rows with infinities are refused, also in documents, whose interval is stored whole without them', async () => {
      const sink = await openSink({ layout: 'document' })
      const batch = batchOf([1, -Infinity, 3], { identity: identity(0) })
      expect((await failureOf(() => sink.write([batch]))).faults.map((/** @type {any} */ { row }) => row)).to.deep.equal([1])
      expect(await documents('press')).to.deep.equal([])
      await sink.write([pickOf(batch, [0, 2])])
      expect((await documents('press')).map(({ size, measurements }) => [size, measurements.length])).to.deep.equal([[2, 2]])
    })
  })

  it('divides the document of an interval that is larger than a document may be', async () => {
    const sink = await openSink({ layout: 'document' })
    const note = 'x'.repeat(6_000_000)
    const batch = new Batch({
      source: 'press',
      time: BigInt64Array.of(T0, T0 + 1n, T0 + 2n, T0 + 3n),
      fields: [{ name: 'note', type: 'string' }],
      columns: [[note, note, note, 'y'.repeat(17_000_000)]],
      identity: identity(0)
    })
    const refused = await failureOf(() => sink.write([batch]))
    expect(refused.faults.map((/** @type {any} */ { row }) => row)).to.deep.equal([3])
    expect(refused.message).to.match(/16 MiB/)
    await sink.write([sliceOf(batch, 0, 3)])
    expect((await documents('press')).map(({ size }) => size)).to.deep.equal([2, 1])
  })

  it('continues after the server has been stopped or killed', async () => {
    const sink = await openSink()
    const late = await openSink()
    for (const [seq, end] of /** @type {const} */ (['stop', 'kill']).entries()) {
      const batch = batchOf([seq], { identity: identity(seq) })
      await sink.write([batch])
      await server[end]()
      for (const each of [sink, late]) expect(isTransient(await failureOf(() => each.write([batch])))).to.equal(true)
      await server.start()
      expect((await late.write([batch])).duplicates).to.deep.equal([batch])
      expect((await sink.write([batch])).duplicates).to.deep.equal([batch])
    }
    expect(await rows('press')).to.have.length(2)
    expect((rangesOf(await sink.committed()))[0].ranges).to.deep.equal([[0, 1]])
  }).timeout(20_000)

  it('writes on several connections at a time', async () => {
    const sink = await openSink({ connections: 3 })
    const batches = Array.from({ length: 30 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
    await Promise.all(batches.map(batch => sink.write([batch])))
    expect(await rows('press')).to.have.length(30)
  })
})

/** @param {unknown} value @returns {any} */
function plain (value) {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  if (value instanceof Object) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'bigint' && BigInt.asIntN(53, value) === value ? Number(value) : value ?? null
}
