import { DatabaseSync } from 'node:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { open as openSqlite } from '../../gateway/databases/sqlite/sink.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { batchOf, failureOf, T0 } from './contract/batches.js'
import { MysqlDatabase } from './mysql-database.js'
import { PostgresqlDatabase } from './postgresql-database.js'

/** What stands in a user's table after messages with an INSERT that another node stored before. */
describe('A table that was made for other nodes', () => {
  const T1 = new Date('2026-11-23T08:00:00.123Z')

  /** @param {object} message */
  const batchesOf = message => {
    const { batches, refused } = toBatches(/** @type {any} */ (message))
    expect(refused).to.deep.equal([])
    return batches
  }

  /** @param {import('../../gateway/databases/sink.js').Sink} sink @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const write = async (sink, batches) => {
    await sink.prepare(batches)
    await sink.write(batches)
  }

  describe('in PostgreSQL', () => {
    const database = PostgresqlDatabase.inSuite()
    const inserted = (/** @type {string} */ query, /** @type {unknown[]} */ ...params) => batchesOf({ query, params })
    const stored = async () => (await database.query('SELECT * FROM readings')).rows

    it('has its own columns filled, and gets no others', async () => {
      await database.query('CREATE TABLE readings (id serial PRIMARY KEY, ts timestamptz NOT NULL, room text, temperature float8)')
      const sink = await database.openSink({ table: 'readings' })
      await write(sink, inserted('INSERT INTO readings (ts, room, temperature) VALUES ($1, $2, $3)', T1, 'kitchen', 21.5))
      const { rows } = await database.query('SELECT *, ts::text AS text FROM readings')
      expect(Object.keys(rows[0])).to.deep.equal(['id', 'ts', 'room', 'temperature', 'text'])
      expect(new Date(rows[0].text).getTime()).to.equal(T1.getTime())
      expect([rows[0].id, rows[0].room, rows[0].temperature]).to.deep.equal([1, 'kitchen', 21.5])
    })

    it('has its only time filled, whatever it is called, and its own column source', async () => {
      await database.query('CREATE TABLE readings (measured timestamptz DEFAULT now(), source text, temperature double precision)')
      await write(await database.openSink({ table: 'readings' }),
        inserted('INSERT INTO readings (source, temperature) VALUES ($1, $2)', 'probe 1', 1))
      const [row] = await stored()
      expect(Object.keys(row)).to.deep.equal(['measured', 'source', 'temperature'])
      expect(row).to.include({ source: 'probe 1', temperature: 1 })
      expect(row.measured).not.to.equal(null)
    })

    it('keeps the source of rows that have another', async () => {
      await database.query('CREATE TABLE readings (ts timestamptz, force double precision)')
      await write(await database.openSink({ table: 'readings' }), [batchOf([1])])
      expect(await stored()).to.have.length(1)
      expect((await stored())[0]).to.include({ source: 'press', force: 1 }).and.have.keys('ts', 'force', 'source')
    })

    it('keeps it, too, of rows like those of an INSERT that came before', async () => {
      await database.query('CREATE TABLE readings (ts timestamptz, force double precision)')
      const sink = await database.openSink({ table: 'readings' })
      await write(sink, [batchOf([1], { source: 'readings' })])
      await write(sink, [batchOf([2], { source: 'press' })])
      expect((await stored()).map(({ source, force }) => [source ?? null, force])).to.deep.equal([[null, 1], ['press', 2]])
    })

    for (const [columns, reason] of [
      ['made timestamptz, changed timestamptz', /"made", "changed" hold times, and none of them is called time, timestamp or ts/],
      ['ts bigint', /"ts" is of type bigint, which does not say in what unit it holds the time/],
      ['ts timestamp', /"ts" is of type timestamp without time zone, and the time needs timestamptz/]
    ]) {
      it(`refuses rows, and adds nothing, where it has ${columns}`, async () => {
        await database.query(`CREATE TABLE readings (${columns}, temperature double precision)`)
        const sink = await database.openSink({ table: 'readings' })
        const error = await failureOf(() => sink.prepare(inserted('INSERT INTO readings (temperature) VALUES ($1)', 1)))
        expect(error.code).to.equal('SLUICE_SINK_TABLE_MISFIT')
        expect(error.message).to.match(/** @type {RegExp} */ (reason))
        const { rows } = await database.query('SELECT column_name FROM information_schema.columns WHERE table_name = \'readings\'')
        expect(rows.map(row => row.column_name)).not.to.include.oneOf(['time', 'time_ns', 'source'])
      })
    }
  })

  describe('in MariaDB', () => {
    const database = MysqlDatabase.inSuite()

    for (const [type, shown] of [
      ['DATETIME', '08:00:00.000000'], ['TIMESTAMP(3) NULL', '08:00:00.123000'], ['DATETIME(6)', '08:00:00.123000']
    ]) {
      for (const infile of [1, 0]) {
        it(`has its own columns filled, and gets no others: ${type}, local_infile=${infile}`, async () => {
          await database.query(`SET GLOBAL local_infile = ${infile}`)
          try {
            await database.query(`CREATE TABLE readings (ts ${type}, room VARCHAR(20), temperature DOUBLE)`)
            const topic = 'INSERT INTO readings (ts, room, temperature) VALUES (?, ?, ?)'
            await write(await database.openSink({ table: 'readings' }), batchesOf({ topic, payload: [T1, 'kitchen', 21.5] }))
            const rows = await database.query('SELECT *, CAST(CAST(ts AS TIME(6)) AS CHAR) AS text FROM readings')
            expect(Object.keys(rows[0])).to.deep.equal(['ts', 'room', 'temperature', 'text'])
            expect([rows[0].text, rows[0].room, rows[0].temperature]).to.deep.equal([shown, 'kitchen', 21.5])
          } finally {
            await database.query('SET GLOBAL local_infile = 1')
          }
        })
      }
    }
  })

  describe('in SQLite', () => {
    /** @type {string} */
    let folder
    /** @type {import('../../gateway/databases/sink.js').Sink} */
    let sink
    /** @type {DatabaseSync} */
    let database

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-others-'))
      const path = join(folder, 'readings.db')
      database = new DatabaseSync(path)
      sink = await openSqlite({ file: path, table: 'readings' })
    })

    afterEach(async () => {
      await sink.close()
      database.close()
      await rm(folder, { recursive: true })
    })

    const batches = () => batchesOf({ topic: 'INSERT INTO readings (time, temperature) VALUES (?, ?)', payload: [T1, 21.5] })
    const columns = () => database.prepare('SELECT name FROM pragma_table_info(\'readings\')').all().map(({ name }) => name)

    it('refuses rows, and adds nothing, where its times may be in another unit', async () => {
      database.exec('CREATE TABLE readings (ts INTEGER, temperature REAL)')
      expect((await failureOf(() => sink.prepare(batches()))).message).to.match(/"ts" is of type INTEGER, which does not say in what unit/)
      expect(columns()).to.deep.equal(['ts', 'temperature'])
    })

    it('refuses rows where its times are in another unit', async () => {
      database.exec('CREATE TABLE readings (time INTEGER, temperature REAL); INSERT INTO readings VALUES (1763884800123, 20)')
      expect((await failureOf(() => sink.prepare(batches()))).message).to.match(/times such as "1763884800123", which are not nanoseconds/)
      expect(columns()).to.deep.equal(['time', 'temperature'])
    })

    it('has nanoseconds added to nanoseconds', async () => {
      database.exec(`CREATE TABLE readings (time INTEGER, source TEXT, temperature REAL); INSERT INTO readings VALUES (${T0}, '', 20)`)
      await write(sink, batches())
      const { count } = /** @type {any} */ (database.prepare('SELECT count(*) AS count FROM readings').get())
      expect(count).to.equal(2)
    })
  })
})
