import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { connect } from '../../gateway/databases/voltdb/connection.js'
import { nameIn } from '../../gateway/databases/voltdb/dialect.js'
import { isTransient } from '../../gateway/databases/voltdb/sink.js'
import { requireServer } from '../servers/programs.js'
import { missingVoltdb, startVoltdb } from '../servers/voltdb.js'
import { batchOf, failureOf, identity, poisoned, rowOf, T0 } from '../databases/contract/batches.js'
import { sinkContract } from '../databases/contract/contract.js'
import { keyedContract, SELDOM_DIFFERS, seldomTest } from '../databases/contract/keyed.js'
import { writerContract } from '../databases/contract/writer.js'
import { VoltdbDatabase } from './voltdb-database.js'

describe('VoltDB sink', () => {
  const database = VoltdbDatabase.inSuite()
  const { openSink, query, rows } = database
  const forget = () => query('DELETE FROM sluice_commits')

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: database.names,
    setBack: async seq => {
      await query(`DELETE FROM sluice_commits WHERE seq >= ${seq} AND sink_table <> ''`)
      await query(`DELETE FROM press WHERE force >= ${seq}`)
    },
    drop: table => database.drop(table),
    guarantee: 'keys',
    hasColumns: true,
    layouts: ['narrow'],
    nan: NaN,
    ignoresCase: false,
    differs: {
      'stores the infinities, and NaN as the database can': 'the negative one is NULL: "refuses what would be NULL"',
      'keeps nanoseconds over the whole range of time': 'the least of 64 bits is NULL: "refuses what would be NULL"',
      'stores every type at its extremes': 'the least ones of 64 bits are NULL: "refuses what would be NULL"',
      ...SELDOM_DIFFERS
    }
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => poisoned(batches, isPoison, -Infinity),
    wrong: [
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  keyedContract({ open: openSink, stored: database.stored, forget })

  it('reports a batch whose identity another gateway takes at the same moment', async () => {
    const sinks = await Promise.all([openSink(), openSink()])
    await sinks[0].prepare([batchOf([1])])
    await sinks[1].prepare([batchOf([1])])
    const found = []
    for (const [i, sink] of sinks.entries()) {
      const own = batchOf([i + 2], { identity: identity(1 + i) })
      found.push(await sink.write([batchOf([i], { identity: { ...identity(0), hash: i } }), own]))
    }
    expect(found.map(({ clashes, duplicates }) => [clashes.length, duplicates.length])).to.deep.equal([[0, 0], [1, 0]])
    const { records } = await (await openSink()).committed()
    expect(records.map(({ first, hash }) => [first, hash])).to.deep.equal([[0, 0], [1, 0], [2, 0]])
  })

  it('refuses what would be NULL', async () => {
    const sink = await openSink()
    const LEAST = -(2n ** 63n)
    const rowsOf = (/** @type {any} */ error) => error.faults.map((/** @type {any} */ { row }) => row)
    const infinite = await failureOf(() => sink.write([batchOf([1, -Infinity, -Number.MAX_VALUE])]))
    const early = await failureOf(() => sink.write([batchOf([1, 2], { time: BigInt64Array.of(0n, LEAST) })]))
    const least = await failureOf(() => sink.write([new Batch({
      source: 'oven', time: BigInt64Array.of(T0), fields: [{ name: 'count', type: 'int64' }], columns: [BigInt64Array.of(LEAST)]
    })]))
    expect([infinite, early, least].map(error => [isTransient(error), rowsOf(error)]))
      .to.deep.equal([[false, [1, 2]], [false, [1]], [false, [0]]])
    const time = [LEAST + 1n, -1n, 0n, T0, 2n ** 63n - 1n]
    const values = [-1.69e308, Infinity, NaN, Number.MIN_VALUE, Number.MAX_VALUE]
    await sink.write([batchOf(values, { time: BigInt64Array.from(time) })])
    expect(await rows('press')).to.deep.equal(values.map((force, i) => ({ time: time[i], force })))
  })

  it('stores every type at the extremes that it has', async () => {
    const batch = rowOf({
      tiny: ['float64', Number.MIN_VALUE],
      f32: ['float32', Math.fround(0.1)],
      most: ['int64', 2n ** 63n - 1n],
      least: ['int64', 1n - 2n ** 63n],
      i32: ['int32', -2147483648],
      i16: ['int16', -32768],
      u16: ['uint16', 65535],
      yes: ['bool', 1],
      no: ['bool', 0],
      text: ['string', 'Grüße 🚀 \'"\\ \n\t\0'],
      noText: ['string', ''],
      bytes: ['bytes', Uint8Array.of(0, 255, 10)],
      noBytes: ['bytes', new Uint8Array(0)]
    })
    await (await openSink()).write([batch])
    expect(await rows('press')).to.deep.equal([{
      time: T0,
      tiny: Number.MIN_VALUE,
      f32: Math.fround(0.1),
      most: 2n ** 63n - 1n,
      least: 1n - 2n ** 63n,
      i32: -2147483648,
      i16: -32768,
      u16: 65535,
      yes: 1,
      no: 0,
      text: 'Grüße 🚀 \'"\\ \n\t\0',
      noText: '',
      bytes: '0x00ff0a',
      noBytes: '0x'
    }])
  })

  it('stores under names that it has for itself, or would take for others', async () => {
    const names = ['order', 'Order', 'power', 'POWER', '1st', 'n1st', 'n1st_xn', 'Temp', 'temp', 'temp_x8', 'a b', 'a_x20_b', 'time_ns',
      'Süd', '_', 'x', 'X']
    await (await openSink()).write([rowOf(Object.fromEntries(names.map((name, i) => [name, ['float64', i]])))])
    const [{ time, ...stored }] = await rows('press')
    expect(time).to.equal(T0)
    expect(stored).to.deep.equal(Object.fromEntries(names.map((name, i) => [name === 'time_ns' ? 'time_ns~field' : name, i])))
  })

  it('stores under names that are longer than it can have, and finds their columns again', async () => {
    const names = ['x'.repeat(255), `${'x'.repeat(254)}y`, 'A'.repeat(200), '日'.repeat(100), 'short']
    const row = (/** @type {number} */ first) => rowOf(Object.fromEntries(names.map((name, i) => [name, ['float64', first + i]])))
    await (await openSink()).write([row(0)])
    await (await openSink()).write([row(10)])
    const columns = names.map(nameIn)
    expect(await query(`SELECT ${columns.join(', ')} FROM press ORDER BY short`)).to.deep.equal([[0, 1, 2, 3, 4], [10, 11, 12, 13, 14]])
  })

  it('makes dead letters of rows with texts that are too long', async () => {
    const sink = await openSink()
    for (const note of ['x'.repeat(600_000), 'x'.repeat(3_000_000), 'x'.repeat(60_000_000)]) {
      const error = await failureOf(() => sink.write([rowOf({ note: ['string', note] })]))
      expect([note.length, isTransient(error)]).to.deep.equal([note.length, false])
      expect(error.message.length).to.be.lessThan(2000)
    }
    await sink.write([rowOf({ note: ['string', 'x'.repeat(500_000)] })])
    expect(await rows('press')).to.have.length(1)
  })

  it('refuses a table whose rows would be too long', async () => {
    const names = Array.from({ length: 900 }, (_, i) => `tag ${i}`)
    const error = await failureOf(async () => (await openSink()).write([
      batchOf([1], { tags: Object.fromEntries([...names, ...names.map(name => `${name}b`)].map(name => [name, 'a'])) })
    ]))
    expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
    const notes = Object.fromEntries(Array.from({ length: 990 }, (_, i) => [`note ${i}`, ['string', 'x'.repeat(900)]]))
    await (await openSink()).write([rowOf(/** @type {any} */ (notes))])
    expect(Object.keys((await rows('press'))[0])).to.have.length(991)
  })

  seldomTest({ open: openSink, isTransient, forget })

  it('notices that a server which was killed has started without what it had, and stores all of it again', async function () {
    this.timeout(120_000)
    const batches = [0, 1, 2].map(seq => batchOf([seq], { identity: identity(seq), time: BigInt64Array.of(T0 + BigInt(seq)) }))
    const sink = await openSink()
    await sink.write(batches.slice(0, 2))
    expect(sink.notice?.()).to.match(/no command log/)
    await database.server.kill()
    const away = await failureOf(() => sink.write([batches[2]]))
    expect([away.code, isTransient(away)]).to.deep.equal(['SLUICE_SINK_CONNECT', true])
    await database.server.start()
    /** @type {string[]} */
    const codes = []
    for (let stored = false; !stored;) {
      stored = await sink.write([batches[2]]).then(() => true, error => codes.push(error.code) < 0)
    }
    expect(codes).to.include('SLUICE_SINK_SET_BACK')
    expect(await sink.committed()).to.have.property('records').that.has.length(1)
    await sink.write(batches)
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 1, 2])
  })

  it('leaves tables alone whose rows are not told apart', async () => {
    await query('CREATE TABLE press (time_ns BIGINT NOT NULL, force FLOAT)')
    const refused = await failureOf(async () => (await openSink()).write([batchOf([1])]))
    expect([refused.code, isTransient(refused)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
  })

  it('removes rows that are too old, so many at a time', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1, 2, 3, 4], { time: BigInt64Array.of(T0, T0 + 1n, T0 + 2n, T0 + 3n) })])
    expect(await sink.span?.()).to.deep.equal({ oldest: T0, newest: T0 + 3n })
    expect(await sink.removeBefore?.(T0 + 3n, { maxRows: 1 })).to.equal(2)
    expect(await sink.removeBefore?.(T0 + 3n, { maxRows: 1000 })).to.equal(1)
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([4])
  })

  it('tells by Test connection what it found', async () => {
    expect(await database.connect().test()).to.match(/^VoltDB 10\.1\.1\. The server keeps no command log/)
    const error = await failureOf(() => database.connect({ port: 1 }).test())
    expect(error).to.include({ code: 'SLUICE_SINK_CONNECT' }).and.to.have.property('fix').that.matches(/Check host and port/)
  })
})

describe('VoltDB server with a login', () => {
  /** @type {import('../servers/voltdb.js').VoltdbServer} */
  let server

  before(async function () {
    this.timeout(120_000)
    requireServer(this, 'voltdb', missingVoltdb())
    server = await startVoltdb({ login: true })
  })

  after(() => server?.remove())

  /** @param {object} options */
  const told = async options => {
    const { port, user, password } = server
    const connected = connect({ port, user, password, ...options })
    try {
      return await connected.test()
    } catch (error) {
      return `${/** @type {Error} */ (error).message} (${/** @type {any} */ (error).code}) ${/** @type {any} */ (error).fix}`
    } finally {
      await connected.close()
    }
  }

  it('is reached', async () => {
    expect(await told({})).to.match(/logged in as "gateway"\./)
  })

  it('says what is wrong with a login', async () => {
    expect(await told({ password: 'password of nobody' })).to.match(/SLUICE_SINK_CONNECT.*Check user and password/)
      .and.not.to.include('password of nobody')
    expect(await told({ password: '' })).to.match(/asks for a password.*SLUICE_SINK_CONNECT.*user "gateway"/)
  })
})
