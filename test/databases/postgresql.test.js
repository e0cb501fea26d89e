import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import pg from 'pg'
import { open, isTransient } from '../../gateway/databases/postgresql/sink.js'
import { connect } from '../../gateway/databases/postgresql/connection.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { batchOf, failureOf, identity as identityOf, poisoned, rowOf } from './contract/batches.js'
import { sinkContract, sqlFixtures } from './contract/contract.js'
import { writerContract } from './contract/writer.js'

describe('PostgreSQL sink', () => {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let server
  /** @type {{close: () => Promise<void>}[]} */
  let opened
  /** @type {pg.Client} */
  let client

  before(async function () {
    requirePostgresql(this)
    server = await startPostgresql()
  })

  after(() => server?.remove())

  const login = () => ({ host: '127.0.0.1', port: server.port, user: server.user, password: server.password, database: server.database })

  const openClient = async () => {
    const connected = new pg.Client({ ...login(), types: { getTypeParser: parserOf } })
    connected.on('error', () => {})
    await connected.connect()
    return connected
  }

  beforeEach(async () => {
    opened = []
    client = await openClient()
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  })

  afterEach(async () => {
    for (const each of opened) await each.close()
    await client.end()
  })

  const openSink = async (options = {}) => {
    const connected = connect({ ...login(), ...options })
    const sink = await open(options, { server: connected })
    opened.push(sink, connected)
    return sink
  }

  /** @param {string} table */
  const rows = async (table, schema = 'public') => {
    const order = table === 'sluice_commits' ? 'seq' : 'time_ns'
    const result = await client.query(`SELECT * FROM "${schema}".${pg.escapeIdentifier(table)} ORDER BY ${order}`)
    return result.rows.map(({ time: _time, time_ns: time, ...row }) => ({ ...time !== undefined && { time }, ...plain(row) }))
  }

  sinkContract({
    open: openSink,
    isTransient,
    execute: async sql => { await client.query(sql) },
    rows,
    tables: async () => (await client.query(
      'SELECT tablename FROM pg_tables WHERE schemaname = \'public\' AND tablename <> \'sluice_commits\''
    )).rows.map(({ tablename }) => tablename),
    drop: async table => { await client.query(`DROP TABLE ${pg.escapeIdentifier(table)}`) },
    guarantee: 'transaction',
    hasColumns: true,
    fixtures: sqlFixtures,
    layouts: ['narrow', 'document'],
    nan: NaN,
    ignoresCase: false
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => {
      await client.query('CREATE TABLE press (force double precision CHECK (force >= 0))')
      return poisoned(batches, isPoison)
    },
    server: {
      stop: () => server.stop(),
      async start () {
        await server.start()
        client = await openClient()
      }
    },
    wrong: [
      {
        what: 'a wrong password',
        options: { password: 'password of nobody' },
        tells: /password authentication failed.*Check user and password/
      },
      { what: 'a database that is missing', options: { database: 'nowhere' }, tells: /"nowhere".*Create the database/ },
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ }
    ]
  })

  it('rounds time down to microseconds', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1, 2, 3], { time: BigInt64Array.of(-1n, 1_700_000_000_123_456_999n, 0n) })])
    const { rows: stored } = await client.query('SELECT time::text FROM press ORDER BY time_ns')
    expect(stored.map(({ time }) => time)).to.deep.equal([
      '1969-12-31 23:59:59.999999+00',
      '1970-01-01 00:00:00+00',
      '2023-11-14 22:13:20.123456+00'
    ])
  })

  it('lets others write to a table that a long query keeps from being given a column', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1])])
    await client.query('BEGIN; LOCK TABLE press IN ACCESS SHARE MODE')
    const grown = rowOf({ fresh: ['float64', 2] })
    const refused = failureOf(() => sink.write([grown]))
    await sink.write([batchOf([3])])
    expect(isTransient(await refused)).to.equal(true)
    await client.query('COMMIT')
    await sink.write([grown])
    expect(await rows('press')).to.have.length(3)
  })

  it('closes its connections, though a statement waits at the server', async () => {
    const connected = connect(login())
    const sink = await open({}, { server: connected })
    await sink.write([batchOf([1])])
    await client.query('BEGIN; LOCK TABLE press IN ACCESS EXCLUSIVE MODE')
    const waiting = failureOf(() => sink.write([batchOf([2])]))
    const waits = 'SELECT 1 FROM pg_locks WHERE relation = \'press\'::regclass AND NOT granted'
    while ((await client.query(waits)).rowCount === 0);
    await connected.close()
    expect((await waiting).message).to.match(/terminated/)
    expect((await failureOf(() => sink.write([batchOf([3])]))).message).to.match(/have been closed/)
    await client.query('COMMIT')
  })

  it('indexes a narrow table by time and sensor', async () => {
    const sink = await openSink({ layout: 'narrow' })
    await sink.prepare([batchOf([1])])
    const { rows: indexes } = await client.query('SELECT indexdef FROM pg_indexes WHERE tablename = \'press\'')
    expect(indexes.map(({ indexdef }) => /USING (.*)/.exec(indexdef)?.[1])).to.deep.equal(['btree ("time", sensor)'])
  })

  describe('hypertables', () => {
    it('waits, and says why, where the database has no TimescaleDB', async () => {
      const sink = await openSink({ hypertable: true })
      const error = await failureOf(() => sink.prepare([batchOf([1])]))
      expect(error.message).to.match(/no TimescaleDB.*CREATE EXTENSION/)
      expect(isTransient(error)).to.equal(true)
      expect(await client.query('SELECT 1 FROM pg_tables WHERE schemaname = \'public\' AND tablename = \'press\'')).to.have.property(
        'rowCount',
        0
      )
    })

    it('asks TimescaleDB for them once, when it creates a table (by a fake of its function)', async () => {
      await client.query(`CREATE TABLE asked (relation text, time_column text, chunk interval);
        CREATE FUNCTION create_hypertable(relation regclass, time_column name, chunk_time_interval interval, create_default_indexes boolean)
          RETURNS void LANGUAGE sql
        AS $$ INSERT INTO asked VALUES (relation::text, time_column, chunk_time_interval) $$`)
      const sink = await openSink({ hypertable: true, chunkHours: 36 })
      await sink.write([batchOf([1])])
      await sink.write([rowOf({ more: ['float64', 1] })])
      expect((await client.query('SELECT relation, time_column, chunk::text FROM asked')).rows).to.deep.equal([{
        relation: 'press',
        time_column: 'time',
        chunk: '36:00:00'
      }])
    })
  })

  it('indexes time as asked', async () => {
    for (const index of ['btree', 'brin', 'none']) {
      const sink = await openSink({ index, table: index })
      await sink.prepare([batchOf([1])])
      const { rows: indexes } = await client.query('SELECT indexdef FROM pg_indexes WHERE tablename = $1', [index])
      expect(indexes.map(({ indexdef }) => /USING (.*)/.exec(indexdef)?.[1])).to.deep.equal(index === 'none' ? [] : [`${index} ("time")`])
    }
  })

  it('makes its schema', async () => {
    const sink = await openSink({ schema: 'plant "7"' })
    await sink.write([batchOf([1], { identity: { gateway: 'gw', source: 'press', epoch: '1', seq: 0 } })])
    expect((await client.query('SELECT force FROM "plant ""7""".press')).rows).to.deep.equal([{ force: 1 }])
    expect(await sink.committed()).to.have.length(1)
  })

  it('widens whole numbers and float32 into columns that hold them exactly', async () => {
    await client.query('CREATE TABLE press (a int8, b float8, c float8, d int8, e varchar(3))')
    const sink = await openSink()
    await sink.write([rowOf({
      a: ['int32', -2147483648],
      b: ['uint16', 65535],
      c: ['float32', 0.5],
      d: ['int64', -1n],
      e: ['string', 'abc']
    })])
    expect(plain((await client.query('SELECT a, b, c, d, e FROM press')).rows[0])).to.deep.equal({
      a: -2147483648,
      b: 65535,
      c: 0.5,
      d: -1,
      e: 'abc'
    })
    const tooLong = await failureOf(() => sink.write([rowOf({ e: ['string', 'abcd'] })]))
    expect(tooLong.message).to.match(/too long.*column e/)
    expect(isTransient(tooLong)).to.equal(false)
  })

  it('refuses text with NUL, and rows beyond the page size', async () => {
    const sink = await openSink()
    const wide = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`f${i}`, /** @type {['float64', number]} */ (['float64', i])]))
    for (const batch of [rowOf({ text: ['string', 'a\0b'] }), rowOf(wide)]) {
      expect(isTransient(await failureOf(() => sink.write([batch])))).to.equal(false)
    }
    const field = /** @type {[any, any]} */ (['bool', 1])
    const fields = Object.fromEntries(Array.from({ length: 1700 }, (_, i) => [`f${i}`, field]))
    expect(isTransient(await failureOf(() => sink.write([rowOf(fields)])))).to.equal(false)
  })

  it('looks at a table again whose column has changed its type', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1])])
    await client.query('ALTER TABLE press ALTER force TYPE numeric')
    expect(isTransient(await failureOf(() => sink.write([batchOf([2])])))).to.equal(true)
    const error = await failureOf(() => sink.prepare([batchOf([2])]))
    expect(error.message).to.match(/numeric/)
    expect(isTransient(error)).to.equal(false)
  })

  it('checks deferred constraints in a probe', async () => {
    await client.query('CREATE TABLE allowed (force float8 PRIMARY KEY)')
    await client.query('CREATE TABLE press (force float8 REFERENCES allowed DEFERRABLE INITIALLY DEFERRED)')
    const sink = await openSink()
    for (const probe of [true, false]) expect(isTransient(await failureOf(() => sink.write([batchOf([1])], { probe })))).to.equal(false)
  })

  it('says what is wrong with the connection, and waits', async () => {
    /** @type {[object, RegExp][]} */
    const cases = [
      [{ password: 'wrong' }, /authentication failed.*Check user and password/],
      [{ database: 'nowhere' }, /"nowhere" does not exist.*Create the database/],
      [{ host: 'no-such-host.invalid' }, /no-such-host\.invalid.*Check the host name/],
      [{ port: 1 }, /127\.0\.0\.1:1.*Check host and port/],
      [{ tls: 'require' }, /does not support SSL/],
      [{ tls: 'verify', ca: '/no/such.pem' }, /no\/such\.pem/]
    ]
    for (const [options, text] of cases) {
      const sink = await openSink(options)
      const error = await failureOf(() => sink.prepare([batchOf([1])]))
      expect(error.message).to.match(text).and.not.to.include(server.password)
      expect(isTransient(error), error.message).to.equal(true)
    }
  })

  it('waits for a missing permission', async () => {
    await client.query('CREATE ROLE logger LOGIN PASSWORD \'secret\'')
    const logger = await openSink({ user: 'logger', password: 'secret' })
    const denied = await failureOf(() => logger.prepare([batchOf([1])]))
    expect(denied.message).to.match(/permission denied/)
    expect(isTransient(denied)).to.equal(true)
    await client.query('GRANT USAGE, CREATE ON SCHEMA public TO logger')
    await logger.write([batchOf([1])])
    expect(await rows('press')).to.have.length(1)
  })

  it('goes on after the server has been stopped or killed', async () => {
    const sink = await openSink()
    const identity = { gateway: 'gw', source: 'press', epoch: '1' }
    let seq = 0
    for (const end of ['stop', 'kill']) {
      const batch = batchOf([seq], { identity: { ...identity, seq: seq++ } })
      await sink.write([batch])
      await server[/** @type {'stop'|'kill'} */ (end)]()
      // A backend goes on until it has noticed that its postmaster is gone.
      while ((await sink.write([batch]).catch(() => null)) !== null);
      expect(isTransient(await failureOf(() => sink.write([batch])))).to.equal(true)
      expect(isTransient(await failureOf(() => sink.committed()))).to.equal(true)
      await server.start()
      expect((await sink.write([batch])).duplicates).to.deep.equal([batch])
      client = await openClient()
    }
    expect(await rows('press')).to.have.length(2)
    expect((await sink.committed())[0].ranges).to.deep.equal([[0, 1]])
  })

  it('breaks off a write that is aborted while it waits', async () => {
    const sink = await openSink()
    const batch = batchOf([1], { identity: { gateway: 'gw', source: 'press', epoch: '1', seq: 0 } })
    await sink.prepare([batch])
    await client.query('BEGIN; LOCK TABLE press IN EXCLUSIVE MODE')
    const abort = new AbortController()
    const write = failureOf(() => sink.write([batch], { signal: abort.signal }))
    await new Promise(resolve => setTimeout(resolve, 50))
    abort.abort(new Error('closing'))
    expect((await write).message).to.equal('closing')
    await client.query('COMMIT')
    const { duplicates } = await sink.write([batch])
    expect(await rows('press'), 'stored by one of the two attempts').to.have.length(1)
    expect(duplicates.length).to.be.oneOf([0, 1])
  })

  it('waits while the disk is full, and goes on when there is room', async function () {
    const disk = await mkdtemp(join(tmpdir(), 'sluice-full-'))
    try {
      execFileSync(
        'mount',
        ['-t', 'tmpfs', '-o', `size=2m,uid=${execFileSync('id', ['-u', 'postgres']).toString().trim()}`, 'tmpfs', disk],
        { stdio: 'pipe' }
      )
    } catch {
      await rm(disk, { recursive: true })
      console.log('      skipped, a small disk: mounting a tmpfs needs root')
      return this.skip()
    }
    try {
      await client.query(`CREATE TABLESPACE small LOCATION '${disk}'`)
      await client.query('CREATE TABLE press (force double precision, note text) TABLESPACE small')
      await client.query('CREATE TABLE filler (bytes bytea) TABLESPACE small')
      for (let full = false; !full;) {
        await client.query(
          'INSERT INTO filler SELECT decode(repeat(\'00\', 1900), \'hex\') FROM generate_series(1, 50)'
        ).catch(() => { full = true })
      }
      const sink = await openSink()
      const batch = rowOf({ force: ['float64', 1], note: ['string', 'x'.repeat(20_000) + Math.random()] }, { identity: identityOf(0) })
      const many = Array.from({ length: 100 }, (_, seq) => batchOf(Array(500).fill(seq), { identity: identityOf(seq + 1) }))
      await sink.prepare([batch, ...many])
      const error = await failureOf(() => sink.write([batch, ...many]))
      expect(error.message).to.match(/No space left on device/)
      expect(isTransient(error)).to.equal(true)
      await client.query('DROP TABLE filler')
      await client.query('CHECKPOINT')
      expect(await sink.write([batch])).to.deep.equal({ duplicates: [] })
      await client.query('DROP TABLE press')
      await client.query('DROP TABLESPACE small')
    } finally {
      execFileSync('umount', ['-l', disk])
      await rm(disk, { recursive: true, force: true })
    }
  })

  it('writes on several connections at a time', async () => {
    const sink = await openSink({ connections: 3 })
    const batches = Array.from({ length: 30 }, (_, seq) =>
      batchOf([seq], { identity: { gateway: 'gw', source: 'press', epoch: '1', seq } }))
    await Promise.all(batches.map(batch => sink.write([batch])))
    expect(await rows('press')).to.have.length(30)
  })

  it('encrypts, and checks whom it talks to', async () => {
    const secure = await startPostgresql({ tls: true })
    try {
      const elsewhere = { port: secure.port, password: secure.password }
      for (const options of [
        { tls: 'require' },
        { tls: 'verify', ca: secure.certificate },
        { tls: 'verify', ca: await readFile(secure.certificate, 'utf8') }
      ]) {
        await (await openSink({ ...elsewhere, ...options })).write([batchOf([1])])
      }
      for (const [options, text] of /** @type {[object, RegExp][]} */ ([
        [{ tls: 'verify' }, /self-signed certificate.*Set the server's certificate/],
        [{ tls: 'verify', ca: secure.certificate, host: 'localhost' }, /does not match certificate's altnames/]
      ])) {
        const error = await failureOf(async () => (await openSink({ ...elsewhere, ...options })).committed())
        expect(error.message).to.match(text)
        expect(isTransient(error)).to.equal(true)
      }
    } finally {
      await secure.remove()
    }
  })
})

/** @param {number} type  OID */
function parserOf (type) {
  if (type === 20) return BigInt
  if (type === 700) return (/** @type {string} */ value) => Math.fround(Number(value))
  if (type === 17) return (/** @type {string} */ value) => `0x${value.slice(2)}`
  return pg.types.getTypeParser(type)
}

/** @param {Record<string, unknown>} row */
function plain (row) {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => {
    if (typeof value === 'boolean') return [column, Number(value)]
    return [column, typeof value === 'bigint' && BigInt.asIntN(53, value) === value ? Number(value) : value]
  }))
}
