import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch, sliceOf } from '../../gateway/batch/batch.js'
import { connect } from '../../gateway/databases/cassandra/connection.js'
import { tableName } from '../../gateway/databases/cassandra/dialect.js'
import { isTransient, open } from '../../gateway/databases/cassandra/sink.js'
import { missingCassandra, startCassandra } from '../servers/cassandra.js'
import { requireServer } from '../servers/programs.js'
import { startRelay } from '../servers/relay.js'
import { CassandraDatabase } from './cassandra-database.js'
import { batchOf, failureOf, identity, T0, withLongTexts } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { keyedContract } from './contract/keyed.js'
import { upsertContract } from './contract/upserts.js'
import { writerContract } from './contract/writer.js'

/** Thrice as long as a node that is gone is left alone. */
const PATIENT_MS = 1500

/** @param {() => boolean|Promise<boolean>} holds */
async function until (holds) {
  while (!await holds()) await sleep(20)
}

describe('Cassandra sink', () => {
  const database = CassandraDatabase.inSuite()
  const { openSink, query, rows } = database
  const forget = () => query('TRUNCATE $.sluice_commits')

  // First: it stops the server, which starts the more slowly the more tables there are.
  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => withLongTexts(batches, isPoison, 5_000_000),
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ },
      { what: 'a data centre that does not exist', options: { dataCenter: 'nowhere' }, tells: /nowhere.*data centre/i }
    ]
  })

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: async () => {
      const found = await query('SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?', [database.keyspace])
      return found.map(({ table_name: name }) => name).filter(name => name !== 'sluice_commits')
    },
    elsewhere: () => openSink({ database: `${database.keyspace}_elsewhere` }),
    setBack: async seq => {
      for (const { sink_table: table, gateway, source, epoch, seq: its, last } of await query('SELECT * FROM $.sluice_commits')) {
        if (table === '' || its < seq) continue
        await query('DELETE FROM $.sluice_commits WHERE sink_table = ? AND gateway = ? AND source = ? AND epoch = ? AND last = ?',
          [table, gateway, source, epoch, last])
      }
      for (const row of await database.stored('press')) {
        if (row.force < seq) continue
        await query('DELETE FROM $.press WHERE bucket = ? AND time = ? AND time_ns = ? AND sluice_id = ?',
          [row.bucket, row.time, row.time_ns, row.sluice_id])
      }
    },
    drop: async table => { await query(`DROP TABLE $."${table}"`) },
    guarantee: 'keys',
    hasColumns: true,
    layouts: ['narrow', 'document'],
    nan: NaN,
    ignoresCase: false,
    differs: {}
  })

  upsertContract({
    open: openSink,
    isTransient,
    rows,
    forget,
    execute: query,
    noEmptyKey: true
  })

  /** @param {string} table */
  const ids = async table => (await database.stored(table)).map(({ sluice_id: id, sensor = '' }) => `${id.toString('hex')} ${sensor}`)

  describe('rows of the layout upsert', () => {
    const record = (/** @type {number} */ seq, /** @type {string[]} */ keys) => new Batch({
      source: 'press',
      time: BigInt64Array.from(keys, () => T0),
      fields: [{ name: 'id', type: 'string' }],
      columns: [keys],
      identity: { gateway: 'gw', source: 'press', epoch: '1800000000-abcd', seq }
    })

    it('have a timestamp of their version, by which a user can delete one, and not what replaces it', async () => {
      const sink = await openSink({ layout: 'upsert', key: ['id'] })
      await sink.write([record(3, ['a'])])
      const [{ at }] = await query('SELECT writetime(sluice_seq) AS at FROM $.press')
      expect(at).to.equal((1_800_000_000n << 31n) + (3n << 20n))
      await query('DELETE FROM $.press USING TIMESTAMP ? WHERE id = ?', [at, 'a'])
      expect(await rows('press')).to.deep.equal([])
      await sink.write([record(4, ['a'])])
      expect(await rows('press')).to.have.length(1)
    })

    it('cannot have an empty text as their only key: those that have are refused, and not tried without end', async () => {
      const refused = await failureOf(async () => (await openSink({ layout: 'upsert', key: ['id'] })).write([record(0, [''])]))
      expect(refused.message).to.match(/Key may not be empty/)
      expect(isTransient(refused)).to.equal(false)
      const two = await openSink({ layout: 'upsert', key: ['id', 'line'], table: 'two' })
      await two.write([new Batch({ ...record(0, ['']), tags: { line: '' } })])
      expect(await rows('two')).to.have.length(1)
    })
  })

  describe('documents', () => {
    it('that are tried are gone soon, and replace nothing', async () => {
      const sink = await openSink({ layout: 'document' })
      const batch = batchOf([1, 2, 3, 4], { identity: identity(0) })
      await sink.write([sliceOf(batch, 0, 2)], { probe: true })
      await sink.write([sliceOf(batch, 2, 4)], { probe: true })
      await sink.write([batch])
      while ((await rows('press')).length > 1) await sleep(100)
      await sleep(1100)
      const [{ size, measurements }] = await rows('press')
      expect([size, JSON.parse(measurements).measurements.map((/** @type {any} */ { m }) => m[0])]).to.deep.equal([4, [1, 2, 3, 4]])
    })

    it('are no larger than a server takes', async () => {
      const texts = Array.from({ length: 6 }, (_, row) => String(row).repeat(400_000))
      const batch = new Batch({
        source: 'press', time: BigInt64Array.from(texts, (_, row) => T0 + BigInt(row)), fields: [{ name: 'text', type: 'string' }],
        columns: [texts], identity: identity(0)
      })
      await (await openSink({ layout: 'document' })).write([batch])
      expect((await rows('press')).map(({ size }) => size)).to.deep.equal([2, 2, 2])
    })
  })

  keyedContract({ open: openSink, stored: ids, forget })

  describe('tables', () => {
    const HOUR = 3_600_000_000_000n

    it('have a partition for each length of time, which stays what it was', async () => {
      const start = T0 - T0 % HOUR
      const batch = (/** @type {number} */ seq) => batchOf([0, 1, 2, 3], {
        identity: identity(seq), time: BigInt64Array.of(start - 1n, start, start + HOUR - 1n, start + HOUR)
      })
      await (await openSink()).write([batch(0)])
      await (await openSink({ bucketMinutes: 1 })).write([batch(1)])
      const buckets = (await database.stored('press')).map(({ bucket }) => (BigInt(bucket.getTime()) * 1_000_000n - start) / HOUR)
      expect(buckets).to.deep.equal([-1n, -1n, 0n, 0n, 0n, 0n, 1n, 1n])
    })

    it('hold rows for as long as is set, and what is stored later for as long as is set then', async () => {
      const options = async () => (await query('SELECT default_time_to_live, compaction FROM system_schema.tables ' +
        'WHERE keyspace_name = ? AND table_name = ?', [database.keyspace, 'press']))[0]
      const sink = await openSink({ keepDays: 2 / 86_400 })
      await sink.write([batchOf([1], { identity: identity(0) })])
      expect((await options()).default_time_to_live).to.equal(2)
      expect((await options()).compaction.class).to.match(/TimeWindow/)
      expect([await sink.span?.(), await sink.removeBefore?.(T0 + HOUR, { maxRows: 1 })]).to.deep.equal([null, 0])
      const kept = await openSink({ keepDays: 0 })
      await kept.write([batchOf([2], { identity: identity(1) })])
      expect((await options()).default_time_to_live).to.equal(0)
      while ((await rows('press')).some(({ force }) => force === 1)) await sleep(100)
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([2])
      expect((await kept.write([batchOf([1], { identity: identity(0) })])).duplicates).to.have.length(1)
    })

    it('have names that Cassandra can have, different ones of different sources', async () => {
      const sink = await openSink()
      const sources = ['press 1', 'press_1', 'press_x20_1', 'Press', 'Süd/7', 'x'.repeat(60), 'x'.repeat(61)]
      for (const [i, source] of sources.entries()) await sink.write([batchOf([i], { source })])
      for (const [i, source] of sources.entries()) {
        expect((await rows(source)).map(({ force }) => force), source).to.deep.equal([i])
        expect(tableName(source), source).to.match(/^\w{1,48}$/)
      }
      expect(tableName('press 1')).to.equal('press_x20_1')
    })

    it('have ids that come from their names, so that several nodes that make one at the same time make the same', async () => {
      const made = async () => (await query('SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = ?', [database.keyspace]))
        .map(({ table_name: name, id }) => `${name} ${id}`)
      const write = async () => (await openSink()).write([batchOf([1], { identity: identity(0) })])
      await write()
      const first = await made()
      expect(first).to.have.length(2)
      for (const table of ['press', 'sluice_commits']) await query(`DROP TABLE $.${table}`)
      await write()
      expect(await made()).to.deep.equal(first)
      expect(await rows('press')).to.have.length(1)
    })

    it('of others, and of another layout, are left alone', async () => {
      const sink = await openSink({ table: 'press' })
      await sink.committed() // creates the keyspace
      await query('CREATE TABLE $.press (force double PRIMARY KEY)')
      const refused = await failureOf(() => sink.write([batchOf([1])]))
      expect([refused.code, isTransient(refused)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
      await (await openSink({ table: 'wide' })).write([batchOf([1])])
      for (const options of [{ layout: 'narrow' }, {}]) {
        const other = await openSink({ table: options.layout ? 'wide' : 'narrow', ...options })
        if (!options.layout) await (await openSink({ table: 'narrow', layout: 'narrow' })).write([batchOf([1])])
        expect((await failureOf(() => other.write([batchOf([2])]))).message).to.match(/not told apart by .*another table/)
      }
    })
  })

  it('has no more than one connection after its nodes were away several times while nobody used it', async function () {
    this.timeout(120_000)
    const relay = await startRelay(database.server.port)
    const server = database.connect({ port: relay.port })
    const use = () => server.use(client => client.execute('SELECT key FROM system.local'))
    try {
      await use()
      for (let outage = 0; outage < 4; outage++) {
        await relay.cut()
        await sleep(PATIENT_MS)
        await relay.mend()
        await sleep(PATIENT_MS)
      }
      await until(() => relay.connections <= 1)
    } finally {
      await server.close()
      await relay.cut()
    }
  })

  it('connects as often as before after its nodes were away, however often, and no more once it is closed', async function () {
    this.timeout(120_000)
    const relay = await startRelay(database.server.port)
    const server = database.connect({ port: relay.port })
    const isUsed = () => server.use(client => client.execute('SELECT key FROM system.local')).then(() => true, () => false)
    try {
      for (let outage = 0; outage < 4; outage++) {
        await until(async () => await isUsed() && relay.connections === 1)
        await relay.cut()
        await until(async () => !await isUsed())
        await relay.mend()
      }
      await until(isUsed)
      await server.close()
      await until(() => relay.connections === 0)
      await relay.cut()
      await relay.mend()
      await sleep(PATIENT_MS)
      expect(relay.connections).to.equal(0)
    } finally {
      await relay.cut()
    }
  })

  it('connects no more once it is closed, where the driver gave a host up that was just connecting: that went on for ever', async () => {
    const server = database.connect()
    /** The driver's own. @type {any} */
    const host = await server.use(async client => client.hosts.values()[0])
    host.pool._opening = true
    host.shutdown(true)
    await until(() => host.pool.connections.length === 0)
    await server.close()
    await sleep(PATIENT_MS)
    host.pool.emit('open', new Error('refused'))
    expect(host.pool.isClosing()).to.equal(true)
  })

  describe('Test connection', () => {
    it('tells what it found, and what a sink will do', async () => {
      const told = await database.connect().test()
      expect(told).to.match(/^Cassandra 5\.\S+, one node, data centre "datacenter1", keyspace "test\d+"\. .* not exist: .* create it\.$/)
      await (await openSink()).committed()
      expect(await database.connect().test()).to.match(/keyspace "test\d+"\.$/)
    })

    it('says what to do where nothing answers', async () => {
      const error = await failureOf(() => database.connect({ port: 1 }).test())
      expect(error).to.include({ code: 'SLUICE_SINK_CONNECT' }).and.to.have.property('fix').that.matches(/Check host and port/)
    })
  })
})

describe('Cassandra server with TLS and a login, which syncs from time to time', () => {
  /** @type {import('../servers/cassandra.js').CassandraServer} */
  let server

  before(async function () {
    requireServer(this, 'cassandra', missingCassandra())
    const settings = 'commitlog_sync: periodic\ncommitlog_sync_period: 10000ms\nauthorizer: CassandraAuthorizer'
    server = await startCassandra({ tls: true, login: true, settings })
  })

  after(() => server?.remove())

  /** @param {object} options */
  const told = async options => {
    const { port, user, password, ca } = server
    const connected = connect({ port, user, password, tls: 'verify', ca, ...options })
    try {
      return await connected.test()
    } catch (error) {
      return `${/** @type {Error} */ (error).message} (${/** @type {any} */ (error).code})`
    } finally {
      await connected.close()
    }
  }

  it('is reached, and its way of syncing told', async () => {
    expect(await told({})).to.match(/logged in as "cassandra".*commitlog_sync: periodic.*Set commitlog_sync to group/)
  })

  it('says what is wrong with a login', async () => {
    expect(await told({ password: 'password of nobody' })).to.match(/Check user and password.*SLUICE_SINK_CONNECT/)
      .and.not.to.include('password of nobody')
    expect(await told({ password: '' })).to.match(/asks for a password.*user "cassandra".*SLUICE_SINK_CONNECT/)
    expect(await told({ user: '', password: '' })).to.match(/Set user and password|asks for a password/)
  })

  it('says of a user without rights which one is missing, and what to grant, not that it is out of reach', async () => {
    const { port, user, password, ca } = server
    const [owner, poor] = [{ user, password }, { user: 'poor', password: 'a secret' }]
      .map(login => connect({ port, tls: 'verify', ca, database: 'lent', ...login }))
    try {
      await owner.use(async client => {
        await client.execute('CREATE ROLE poor WITH PASSWORD = \'a secret\' AND LOGIN = true')
        await owner.createKeyspace(client)
      })
      const error = await failureOf(async () => (await open({}, { server: poor })).write([batchOf([1])]))
      expect(error).to.include({ code: 'SLUICE_SINK_CASSANDRA' })
      expect(error.message).to.match(/User poor has no \w+ permission/).and.not.to.match(/No connection|a secret/)
      expect(error.fix).to.match(/^Grant the user SELECT, MODIFY/)
      expect(isTransient(error)).to.equal(true)
    } finally {
      for (const each of [owner, poor]) await each.close()
    }
  })

  it('is not trusted without its authority, nor reached without TLS', async () => {
    expect(await told({ ca: '' })).to.match(/CA certificate/)
    expect(await told({ tls: 'off' })).to.match(/SLUICE_SINK_CONNECT/)
    expect(await told({ tls: 'require', ca: '' })).to.match(/logged in/)
  })
})
