import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { isTransient } from '../../gateway/databases/hbase/sink.js'
import { batchOf, failureOf, identity, T0, withLongTexts } from '../databases/contract/batches.js'
import { sinkContract } from '../databases/contract/contract.js'
import { keyedContract, SELDOM_DIFFERS, seldomTest } from '../databases/contract/keyed.js'
import { upsertContract } from '../databases/contract/upserts.js'
import { writerContract } from '../databases/contract/writer.js'
import { HbaseDatabase } from './hbase-database.js'

describe('HBase sink', () => {
  const database = HbaseDatabase.inSuite()
  const { openSink, rows } = database

  const forgetRecords = async () => {
    for (const key of await database.keys('sluice_commits')) {
      if (key.toString().startsWith('r/')) await database.remove('sluice_commits', key)
    }
  }

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: database.tables,
    elsewhere: () => openSink({ database: `${database.namespace}_elsewhere` }),
    setBack: async seq => {
      for (const { key, cells: [{ value }] } of await database.found('sluice_commits')) {
        if (!key.toString().startsWith('r/')) continue
        const record = JSON.parse(value.toString())
        if (record.table !== '' && record.seq >= seq) await database.remove('sluice_commits', key)
      }
      for (const { key, cells } of await database.found('press')) {
        const force = cells.find(({ column }) => column === 'force')?.value.readDoubleBE() ?? 0
        if (force >= seq) await database.remove('press', key)
      }
    },
    drop: async table => { await database.ask('DELETE', `${database.path(table)}/schema`) },
    guarantee: 'keys',
    hasColumns: true,
    layouts: ['narrow'],
    nan: NaN,
    ignoresCase: false,
    differs: SELDOM_DIFFERS
  })

  it('reads on where it was when the server has forgotten the scanner', async function () {
    this.timeout(180_000)
    const count = 50_000
    const sink = await openSink()
    await sink.write([batchOf(Array.from({ length: count }, (_, i) => i), { identity: identity(0) })])
    /** @type {string[]} */
    const keys = []
    let pages = 0
    for await (const page of database.connect().scan('press', {})) {
      keys.push(...page.map(({ key }) => key.toString('hex')))
      if (pages++ > 0) continue
      await database.server.kill()
      await database.server.start()
    }
    expect(pages).to.be.above(1)
    expect([keys.length, new Set(keys).size]).to.deep.equal([count, count])
  })

  it('fails where a region is away, and does not take that for the end of the table', async function () {
    this.timeout(240_000)
    const count = 50_000
    await (await openSink()).write([batchOf(Array.from({ length: count }, (_, i) => i), { identity: identity(0) })])
    const table = `${database.namespace}:press`
    let found = 0
    const read = async (/** @type {() => Promise<void>} */ begun) => {
      found = 0
      for await (const page of database.connect().scan('press', {})) {
        if (found === 0) await begun()
        found += page.length
      }
    }
    const error = await failureOf(() => read(() => database.server.regions('unassign', table)))
    expect(error.code).to.equal('SLUICE_SINK_HBASE')
    expect(found).to.be.within(1, count - 1)
    expect(await failureOf(() => read(async () => {}))).to.have.property('code', 'SLUICE_SINK_HBASE')
    await database.server.regions('assign', table)
    await read(async () => {})
    expect(found).to.equal(count)
  })

  it('reads a table that is closed to be changed, and prepares in it, without an error', async function () {
    this.timeout(180_000)
    const count = 5000
    await (await openSink()).write([batchOf(Array.from({ length: count }, (_, i) => i), { identity: identity(0) })])
    const server = database.connect()
    let isChanging = true
    const changed = (async () => {
      for (const keepDays of [1, 2, 3]) await (await openSink({ keepDays })).prepare([batchOf([1])])
      isChanging = false
    })()
    const counts = new Set()
    while (isChanging) {
      let found = 0
      for await (const page of server.scan('press', {})) found += page.length
      counts.add(found)
      counts.add(found + (await server.rows('press', { from: 'zz', to: 'zzz' })).length)
    }
    await changed
    expect([...counts]).to.deep.equal([count])
  })

  it('makes a table once where several writes begin with it: it is not closed again', async function () {
    this.timeout(180_000)
    const count = 20
    const sink = await openSink()
    await sink.committed()
    /** @type {Promise<unknown>[]} */
    const writes = []
    let stored = 0
    /** @type {number[]} */
    const statuses = []
    while (stored < count) {
      if (writes.length < count) {
        const seq = writes.length
        writes.push(sink.write([batchOf([seq], { identity: identity(seq) })]).finally(() => { stored++ }))
      }
      const { status } = await fetch(`http://127.0.0.1:${database.server.port}${database.path('press')}/*?limit=1`)
      if (status === 200 || statuses.length > 0) statuses.push(status)
    }
    await Promise.all(writes)
    expect(new Set(statuses)).to.deep.equal(new Set([200]))
    expect(await rows('press')).to.have.length(count)
  })

  it('looks for what another sink has stored of rows that were staged again under another identity', async () => {
    const [sink, other] = [await openSink(), await openSink()]
    await sink.committed()
    const batch = batchOf([1, 2], { identity: { ...identity(0), hash: 5, rows: 2 } })
    await other.write([batch])
    const { epoch, seq } = identity(0)
    const again = batchOf([1, 2], { identity: { ...identity(1), hash: 6, rows: 2, ancestors: [{ epoch, seq, hash: 5 }] } })
    expect(await sink.write([again])).to.deep.equal({ duplicates: [again], clashes: [] })
    expect(await rows('press')).to.have.length(2)
  })

  seldomTest({ open: openSink, isTransient, forget: forgetRecords })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => withLongTexts(batches, isPoison, 11_000_000),
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  upsertContract({ open: openSink, isTransient, rows, forget: forgetRecords, execute: async () => {} })

  keyedContract({ open: openSink, stored: database.keys, forget: forgetRecords })

  describe('tables', () => {
    it('have their kinds of columns from whoever was first, and others are refused', async () => {
      const text = new Batch({
        source: 'press', time: BigInt64Array.of(T0), fields: [{ name: 'force', type: 'string' }], columns: [['a']]
      })
      const outcomes = await Promise.allSettled([[batchOf([1])], [text]].map(async batches => (await openSink()).write(batches)))
      const refused = outcomes.flatMap(outcome => outcome.status === 'rejected' ? [outcome.reason.code] : [])
      expect(refused).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT'])
      expect(await rows('press')).to.have.length(1)
    })

    it('hold rows for as long as is set', async () => {
      const ttl = async () => (await database.ask('GET', `${database.path('press')}/schema`)).ColumnSchema[0].TTL
      await (await openSink({ keepDays: 0.5 })).write([batchOf([1])])
      expect(await ttl()).to.equal('43200')
      await (await openSink({ keepDays: 0 })).write([batchOf([2])])
      expect(await ttl()).to.equal('2147483647')
      expect(await rows('press')).to.have.length(2)
    })

    it('of others, and of another layout, are left alone', async () => {
      const sink = await openSink({ table: 'press' })
      await sink.committed() // creates the namespace
      await database.ask('PUT', `${database.path('press')}/schema`, { name: 'press', ColumnSchema: [{ name: 'own' }] })
      const refused = await failureOf(() => sink.write([batchOf([1])]))
      expect([refused.code, isTransient(refused)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
      await (await openSink({ table: 'wide' })).write([batchOf([1])])
      const narrow = await openSink({ table: 'wide', layout: 'narrow' })
      expect((await failureOf(() => narrow.write([batchOf([2])]))).message).to.match(/is of the layout wide.*another table/)
    })
  })

  describe('Test connection', () => {
    it('tells what it found, and what a sink will do', async () => {
      const told = await database.connect().test()
      expect(told).to.match(/^HBase 2\.\S+, one region server, namespace "test\d+"\. .* not exist: .* create it\.$/)
      await (await openSink()).committed()
      expect(await database.connect().test()).to.match(/namespace "test\d+"\.$/)
    })

    it('says what to do where nothing answers', async () => {
      const error = await failureOf(() => database.connect({ port: 1 }).test())
      expect(error).to.include({ code: 'SLUICE_SINK_CONNECT' }).and.to.have.property('fix').that.matches(/Check host and port/)
    })
  })
})
