import { expect } from 'chai'
import pg from 'pg'
import { isTransient } from '../../gateway/databases/postgresql/sink.js'
import { makeHypertable } from '../../gateway/databases/postgresql/timescale.js'
import { batchOf, failureOf, poisoned, rangesOf, rowOf } from './contract/batches.js'
import { markedFixtures, sinkContract, sqlFixtures, withComment } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { upsertContract } from './contract/upserts.js'
import { writerContract } from './contract/writer.js'
import { plain, PostgresqlDatabase } from './postgresql-database.js'

describe('PostgreSQL sink', () => {
  const database = PostgresqlDatabase.inSuite()
  const { openSink, query, rows } = database

  sinkContract({
    open: openSink,
    isTransient,
    execute: async sql => { await query(sql) },
    rows,
    tables: async () => (await query(
      'SELECT tablename FROM pg_tables WHERE schemaname = \'public\' AND tablename <> \'sluice_commits\''
    )).rows.map(({ tablename }) => tablename),
    drop: async table => { await query(`DROP TABLE ${pg.escapeIdentifier(table)}`) },
    guarantee: 'transaction',
    hasColumns: true,
    fixtures: markedFixtures(withComment),
    elsewhere: () => openSink({ schema: 'other' }),
    setBack: async seq => {
      await query(`DELETE FROM sluice_commits WHERE sink_table <> '' AND seq >= ${seq}; DELETE FROM press WHERE force >= ${seq}`)
    },
    layouts: ['narrow', 'document'],
    nan: NaN,
    ignoresCase: false
  })

  retentionContract({
    open: openSink,
    rows,
    tells: true,
    layouts: ['narrow', 'document'],
    makeForeign: async () => { await query(sqlFixtures.foreign) }
  })

  const forget = () => query('DELETE FROM sluice_commits WHERE sink_table <> \'\'')
  upsertContract({ open: openSink, isTransient, rows, forget, execute: sql => query(sql) })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => {
      await query(withComment('CREATE TABLE press (force double precision CHECK (force >= 0))'))
      return poisoned(batches, isPoison)
    },
    server: {
      stop: () => database.server.stop(),
      async start () {
        await database.server.start()
        await database.reconnect()
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
    const { rows: stored } = await query('SELECT time::text FROM press ORDER BY time_ns')
    expect(stored.map(({ time }) => time)).to.deep.equal([
      '1969-12-31 23:59:59.999999+00',
      '1970-01-01 00:00:00+00',
      '2023-11-14 22:13:20.123456+00'
    ])
  })

  it('lets others write to a table while a long query keeps a column from being added', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1])])
    await query('BEGIN; LOCK TABLE press IN ACCESS SHARE MODE')
    const grown = rowOf({ fresh: ['float64', 2] })
    const refused = failureOf(() => sink.write([grown]))
    await sink.write([batchOf([3])])
    expect(isTransient(await refused)).to.equal(true)
    await query('COMMIT')
    await sink.write([grown])
    expect(await rows('press')).to.have.length(3)
  })

  it('indexes a narrow table by time and sensor', async () => {
    const sink = await openSink({ layout: 'narrow' })
    await sink.prepare([batchOf([1])])
    const { rows: indexes } = await query('SELECT indexdef FROM pg_indexes WHERE tablename = \'press\'')
    expect(indexes.map(({ indexdef }) => /USING (.*)/.exec(indexdef)?.[1])).to.deep.equal(['btree ("time", sensor)'])
  })

  describe('hypertables', () => {
    it('waits, and reports why, where the database has no TimescaleDB', async () => {
      const sink = await openSink({ hypertable: true })
      const error = await failureOf(() => sink.prepare([batchOf([1])]))
      expect(error.message).to.match(/no TimescaleDB.*CREATE EXTENSION/)
      expect(isTransient(error)).to.equal(true)
      expect(await query('SELECT 1 FROM pg_tables WHERE schemaname = \'public\' AND tablename = \'press\'')).to.have.property(
        'rowCount',
        0
      )
    })

    it('requests chunks of 12 hours, compressed by sensor after 7 days, as SciTS has them (of a fake server)', async () => {
      /** @type {string[]} */
      const said = []
      const client = /** @type {any} */ ({
        query: async (/** @type {string} */ sql, /** @type {any[]} */ values = []) => {
          said.push([sql, ...values].join(' '))
          return { rows: [{ found: true }] }
        }
      })
      await makeHypertable(client, '"public"."scits"', ['"sensor_id"'], { hypertable: true, chunkHours: 12, compressAfterHours: 168 })
      expect(said[1]).to.match(/^SELECT create_hypertable.* "public"."scits" 12$/)
      expect(said[2]).to.equal('ALTER TABLE "public"."scits" SET (timescaledb.compress, timescaledb.compress_orderby = \'time\', ' +
        'timescaledb.compress_segmentby = \'"sensor_id"\')')
      expect(said[3]).to.match(/^SELECT add_compression_policy.* "public"."scits" 168$/)
    })

    it('requests them once, when it creates a table (with a fake of TimescaleDB\'s function)', async () => {
      await query(`CREATE TABLE asked (relation text, time_column text, chunk interval);
        CREATE FUNCTION create_hypertable(relation regclass, time_column name, chunk_time_interval interval, create_default_indexes boolean)
          RETURNS void LANGUAGE sql
        AS $$ INSERT INTO asked VALUES (relation::text, time_column, chunk_time_interval) $$`)
      const sink = await openSink({ hypertable: true, chunkHours: 36 })
      await sink.write([batchOf([1])])
      await sink.write([rowOf({ more: ['float64', 1] })])
      expect((await query('SELECT relation, time_column, chunk::text FROM asked')).rows).to.deep.equal([{
        relation: 'press',
        time_column: 'time',
        chunk: '36:00:00'
      }])
    })

    it('drops whole chunks of what is too old (with fakes of TimescaleDB\'s functions)', async () => {
      await query(`CREATE TABLE asked (relation text, older_than timestamptz);
        CREATE FUNCTION create_hypertable(relation regclass, time_column name, chunk_time_interval interval, create_default_indexes boolean)
          RETURNS void LANGUAGE sql AS $$ $$;
        CREATE FUNCTION drop_chunks(relation regclass, older_than timestamptz) RETURNS SETOF text LANGUAGE sql
        AS $$ INSERT INTO asked VALUES (relation::text, older_than); SELECT ''::text WHERE false $$`)
      const sink = await openSink({ hypertable: true })
      await sink.write([batchOf([1])])
      await sink.span?.()
      expect(await sink.removeBefore?.(1_800_000_000_123_456_789n, { maxRows: 100 })).to.equal(0)
      expect((await query('SELECT relation, (extract(epoch FROM older_than) * 1000000)::int8 AS us FROM asked')).rows.map(plain))
        .to.deep.equal([{ relation: 'press', us: 1_800_000_000_123_456 }])
    })
  })

  it('indexes time as configured', async () => {
    for (const index of ['btree', 'brin', 'none']) {
      const sink = await openSink({ index, table: index })
      await sink.prepare([batchOf([1])])
      const { rows: indexes } = await query('SELECT indexdef FROM pg_indexes WHERE tablename = $1', [index])
      expect(indexes.map(({ indexdef }) => /USING (.*)/.exec(indexdef)?.[1])).to.deep.equal(index === 'none' ? [] : [`${index} ("time")`])
    }
  })

  it('indexes time and the key fields: for SciTS timestamp and sensor_id', async () => {
    const scits = () => rowOf({ sensor_id: ['int64', 7n], value: ['float64', 1], 'the plant': ['string', 'x'] })
    const cases = /** @type {[object, string][]} */ ([
      [{ keyFields: ['sensor_id'] }, 'btree ("time", sensor_id)'],
      [{ keyFields: ['the plant', 'sensor_id', 'time', 'unknown'] }, 'btree ("time", "the plant", sensor_id)'],
      [{ keyFields: ['sensor_id'], index: 'brin' }, 'brin ("time")']
    ])
    for (const [i, [options, expected]] of cases.entries()) {
      const sink = await openSink({ ...options, table: `scits${i}` })
      await sink.write([scits()])
      await sink.write([rowOf({ value: ['float64', 2] })])
      const { rows: indexes } = await query('SELECT indexdef FROM pg_indexes WHERE tablename = $1', [`scits${i}`])
      expect(indexes.map(({ indexdef }) => /USING (.*)/.exec(indexdef)?.[1])).to.deep.equal([expected])
      const { rows: columns } = await query('SELECT attname, format_type(atttypid, -1) AS type FROM pg_attribute ' +
        'WHERE attrelid = $1::regclass AND attname IN (\'sensor_id\', \'value\') ORDER BY 1', [`scits${i}`])
      expect(columns.map(({ type }) => type), '8 bytes each').to.deep.equal(['bigint', 'double precision'])
    }
  })

  it('creates its schema', async () => {
    const sink = await openSink({ schema: 'plant "7"' })
    await sink.write([batchOf([1], { identity: { gateway: 'gw', source: 'press', epoch: '1', seq: 0 } })])
    expect((await query('SELECT force FROM "plant ""7""".press')).rows).to.deep.equal([{ force: 1 }])
    expect(rangesOf(await sink.committed())).to.have.length(1)
  })

  it('widens whole numbers and float32 into columns that hold them exactly', async () => {
    await query(withComment('CREATE TABLE press (a int8, b float8, c float8, d int8, e varchar(3))'))
    const sink = await openSink()
    await sink.write([rowOf({
      a: ['int32', -2147483648],
      b: ['uint16', 65535],
      c: ['float32', 0.5],
      d: ['int64', -1n],
      e: ['string', 'abc']
    })])
    expect(plain((await query('SELECT a, b, c, d, e FROM press')).rows[0])).to.deep.equal({
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

  it('reads a table\'s columns again when one has changed its type', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1])])
    await query('ALTER TABLE press ALTER force TYPE numeric')
    expect(isTransient(await failureOf(() => sink.write([batchOf([2])])))).to.equal(true)
    const error = await failureOf(() => sink.prepare([batchOf([2])]))
    expect(error.message).to.match(/numeric/)
    expect(isTransient(error)).to.equal(false)
  })

  it('checks deferred constraints in a probe', async () => {
    await query('CREATE TABLE allowed (force float8 PRIMARY KEY)')
    await query(withComment('CREATE TABLE press (force float8 REFERENCES allowed DEFERRABLE INITIALLY DEFERRED)'))
    const sink = await openSink()
    for (const probe of [true, false]) expect(isTransient(await failureOf(() => sink.write([batchOf([1])], { probe })))).to.equal(false)
  })

  it('writes on several connections at a time', async () => {
    const sink = await openSink({ connections: 3 })
    const batches = Array.from({ length: 30 }, (_, seq) =>
      batchOf([seq], { identity: { gateway: 'gw', source: 'press', epoch: '1', seq } }))
    await Promise.all(batches.map(batch => sink.write([batch])))
    expect(await rows('press')).to.have.length(30)
  })
})
