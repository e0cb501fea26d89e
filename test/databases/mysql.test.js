import { expect } from 'chai'
import { sliceOf } from '../../gateway/batch/batch.js'
import { quote } from '../../gateway/databases/mysql/dialect.js'
import { isTransient } from '../../gateway/databases/mysql/sink.js'
import { ALL_NEW, batchOf, failureOf, identity, poisoned, rangesOf, rowOf, T0 } from './contract/batches.js'
import { markedFixtures, sinkContract } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { upsertContract } from './contract/upserts.js'
import { writerContract } from './contract/writer.js'
import { MysqlDatabase } from './mysql-database.js'

/** `force` is a reserved word of MySQL. */
const fixtures = Object.fromEntries(Object.entries(markedFixtures(sql => `${sql} COMMENT='Sluice'`))
  .map(([name, sql]) => [name, sql.replaceAll(/\bforce\b/g, '`force`')]))

describe('MySQL sink', () => {
  const database = MysqlDatabase.inSuite()
  const { openSink, query, rows } = database

  const contract = {
    open: openSink,
    isTransient,
    execute: async (/** @type {string} */ sql) => { await database.client.query(sql) },
    rows,
    tables: async () => (await query(
      'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> \'sluice_commits\''
    )).map(({ name }) => name),
    drop: async (/** @type {string} */ table) => { await query(`DROP TABLE ${quote(table)}`) },
    guarantee: /** @type {const} */ ('transaction'),
    hasColumns: true,
    fixtures,
    elsewhere: async () => {
      await query('CREATE DATABASE IF NOT EXISTS other')
      return openSink({ database: 'other' })
    },
    setBack: async (/** @type {number} */ seq) => {
      await query('DELETE FROM sluice_commits WHERE sink_table <> \'\' AND seq >= ?', [seq])
      await query('DELETE FROM press WHERE `force` >= ?', [seq])
    },
    layouts: /** @type {const} */ (['narrow', 'document']),
    nan: null,
    ignoresCase: true,
    differs: { 'stores the infinities, and NaN as the database can': 'MySQL has neither infinities nor NaN' }
  }

  sinkContract(contract)

  const retention = { open: openSink, rows, tells: true, makeForeign: async () => { await database.client.query(fixtures.foreign) } }
  retentionContract({ ...retention, layouts: ['narrow', 'document'] })

  const forget = () => query('DELETE FROM sluice_commits WHERE sink_table <> \'\'')
  upsertContract({ open: openSink, isTransient, rows, forget, execute: sql => query(sql) })

  it('refuses a table for upserts in which keys that differ are one', async () => {
    for (const collation of ['utf8mb4_bin', 'utf8mb4_general_ci']) {
      await query(`CREATE TABLE parts (id VARCHAR(255) COLLATE ${collation}, sluice_origin BIGINT, sluice_epoch BIGINT, sluice_seq BIGINT,
        time_ns BIGINT NOT NULL, PRIMARY KEY (id, sluice_origin)) COLLATE utf8mb4_bin COMMENT='Sluice'`)
      const sink = await openSink({ layout: 'upsert', key: ['id'] })
      const row = rowOf({ id: ['string', 'a'] }, { source: 'parts', identity: identity(0) })
      const { code, message } = await failureOf(() => sink.prepare([row]))
      expect(code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      expect(message).to.include(collation)
      await query('DROP TABLE parts')
    }
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => {
      await query('CREATE TABLE press (`force` double CHECK (`force` >= 0)) COMMENT=\'Sluice\'')
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
      { what: 'a wrong password', options: { password: 'password of nobody' }, tells: /Access denied.*Check user and password/ },
      { what: 'a database that is missing', options: { database: 'nowhere' }, tells: /"nowhere".*Create the database/ },
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ }
    ]
  })

  describe('without LOAD DATA LOCAL', () => {
    beforeEach(() => query('SET GLOBAL local_infile = 0'))
    afterEach(() => query('SET GLOBAL local_infile = 1'))

    sinkContract(contract)

    it('refuses a row that is longer than a statement can be, which LOAD DATA accepts', async () => {
      const text = 'ü'.repeat(700_000)
      await query('SET GLOBAL max_allowed_packet = 1048576')
      try {
        const row = rowOf({ text: ['string', text] })
        const error = await failureOf(async () => (await openSink()).write([row, batchOf([1])]))
        expect(error.message).to.match(/max_allowed_packet/)
        expect(isTransient(error)).to.equal(false)
        await query('SET GLOBAL local_infile = 1')
        await (await openSink()).write([row])
        expect(await query('SELECT CHAR_LENGTH(text) AS length FROM press')).to.deep.equal([{ length: 700_000 }])
      } finally {
        await query('SET GLOBAL max_allowed_packet = DEFAULT')
      }
    })

    it('sends many rows in statements that the server accepts', async () => {
      await query('SET GLOBAL max_allowed_packet = 16384')
      try {
        const values = Array.from({ length: 5000 }, (_, i) => i / 7)
        await (await openSink()).write([batchOf(values)])
        expect((await rows('press')).map(({ force }) => force)).to.deep.equal(values)
      } finally {
        await query('SET GLOBAL max_allowed_packet = DEFAULT')
      }
    })
  })

  it('loads from memory where the server allows it', async () => {
    const counts = async () => Object.fromEntries((await query(
      'SHOW GLOBAL STATUS WHERE Variable_name IN (\'Com_load\', \'Com_insert\')'
    )).map(({ Variable_name: name, Value: value }) => [name, Number(value)]))
    const sink = await openSink()
    const write = async () => {
      const before = await counts()
      await sink.write([batchOf([1, 2, 3])])
      const after = await counts()
      return [after.Com_load - before.Com_load, after.Com_insert - before.Com_insert]
    }
    await sink.prepare([batchOf([1])])
    expect(await write()).to.deep.equal([1, 0])
    await query('SET GLOBAL local_infile = 0')
    try {
      // The open connection still assumes that it may; refused once, it inserts instead.
      expect(isTransient(await failureOf(write))).to.equal(true)
      expect(await write()).to.deep.equal([0, 1])
    } finally {
      await query('SET GLOBAL local_infile = 1')
    }
    expect(await rows('press')).to.have.length(6)
  })

  it('stores NaN as NULL, and refuses just the rows with an infinity', async () => {
    const sink = await openSink()
    const batches = [batchOf([1, NaN, -Infinity]), rowOf({ force: ['float32', Infinity] })]
    const error = await failureOf(() => sink.write(batches))
    expect(error.message).to.match(/^2 rows are refused.*"force" is infinite/)
    expect(isTransient(error)).to.equal(false)
    expect(error.faults.map((/** @type {any} */ { batch, row }) => [batch, row])).to.deep.equal([[batches[0], 2], [batches[1], 0]])
    await sink.write([sliceOf(batches[0], 0, 2)])
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([1, null])
    await (await openSink({ table: 'documents', layout: 'document' })).write([batchOf([Infinity])])
    expect((await rows('documents'))[0].measurements).to.include('"Infinity"')
  })

  it('computes time from nanoseconds, rounded down to microseconds', async () => {
    const times = [-(2n ** 63n), -1001n, -1n, 0n, 1_700_000_000_123_456_999n, 2n ** 63n - 1n]
    await (await openSink()).write([batchOf([1, 2, 3, 4, 5, 6], { time: BigInt64Array.from(times) })])
    expect((await query('SELECT time FROM press ORDER BY time_ns')).map(({ time }) => time)).to.deep.equal([
      '1677-09-21 00:12:43.145224',
      '1969-12-31 23:59:59.999998',
      '1969-12-31 23:59:59.999999',
      '1970-01-01 00:00:00',
      '2023-11-14 22:13:20.123456',
      '2262-04-11 23:47:16.854775'
    ])
  })

  it('fills in the time of an existing table, whatever the server\'s time zone', async () => {
    await query('SET GLOBAL time_zone = \'+05:00\'')
    try {
      await query('CREATE TABLE press (time DATETIME(6) NOT NULL, stamp TIMESTAMP(6) NULL, `force` DOUBLE) COMMENT=\'Sluice\'')
      const time = BigInt64Array.of(-1n, 1_700_000_000_123_456_999n, 1_700_000_001_000_000_000n)
      for (const allowed of [1, 0]) {
        await query(`SET GLOBAL local_infile = ${allowed}`)
        await query('DELETE FROM press')
        await (await openSink()).write([batchOf([1, 2, 3], { time })])
        expect((await query('SELECT time, time_ns FROM press ORDER BY time')).map(row => Object.values(row))).to.deep.equal([
          ['1969-12-31 23:59:59.999999', '-1'],
          ['2023-11-14 22:13:20.123456', '1700000000123456999'],
          ['2023-11-14 22:13:21', '1700000001000000000']
        ])
      }
    } finally {
      await query('SET GLOBAL local_infile = 1')
      await query('SET GLOBAL time_zone = \'SYSTEM\'')
    }
  })

  it('keeps rows in the order of time, and of sensor where the table is narrow, by a key that SELECT * does not show', async () => {
    const keyOf = async (/** @type {string} */ table) =>
      (await query(`SHOW INDEX FROM ${table}`)).map(({ Key_name: key, Column_name: column }) => [key, column])
    await (await openSink({ table: 'wide' })).write([batchOf([1, 1])])
    await (await openSink({ table: 'narrow', layout: 'narrow' })).write([batchOf([1, 1], { time: BigInt64Array.of(T0, T0) })])
    expect(await keyOf('wide')).to.deep.equal([['PRIMARY', 'time_ns'], ['PRIMARY', 'sluice_row']])
    expect(await keyOf('narrow')).to.deep.equal([['PRIMARY', 'time_ns'], ['PRIMARY', 'sensor'], ['PRIMARY', 'sluice_row']])
    expect(Object.keys((await query('SELECT * FROM narrow'))[0])).to.deep.equal(['time', 'time_ns', 'source', 'sensor', 'value'])
  })

  it('refuses what does not fit a column, a constraint or a trigger, and stores nothing of it', async () => {
    await query(`CREATE TABLE press (id INT UNIQUE, name VARCHAR(3), small SMALLINT, doc JSON, latin VARCHAR(9) CHARACTER SET latin1,
      must INT NOT NULL DEFAULT 1, part INT CHECK (part < 9), share DOUBLE AS (1 / part) PERSISTENT, year VARCHAR(9),
      since DATE AS (STR_TO_DATE(year, '%Y')) PERSISTENT, parent INT, KEY (parent),
      CONSTRAINT family FOREIGN KEY (parent) REFERENCES press (id)) COMMENT='Sluice'`)
    await database.client.query(`CREATE TRIGGER guard BEFORE INSERT ON press FOR EACH ROW
      BEGIN IF NEW.name = 'bad' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no bad ones'; END IF; END`)
    await query('INSERT INTO press (id) VALUES (7)')
    const bad = [
      rowOf({ id: ['int32', 7] }),
      rowOf({ name: ['string', 'four'] }),
      rowOf({ latin: ['string', '🚀'] }),
      rowOf({ must: ['int32', undefined] }),
      rowOf({ part: ['int32', 9] }),
      rowOf({ parent: ['int32', 8] }),
      rowOf({ name: ['string', 'bad'] }),
      rowOf({ part: ['int32', 0] }),
      rowOf({ year: ['string', 'none'] })
    ]
    for (const allowed of [1, 0]) {
      await query(`SET GLOBAL local_infile = ${allowed}`)
      const sink = await openSink()
      for (const batch of bad) {
        const error = await failureOf(() => sink.write([rowOf({ name: ['string', 'ok'] }, { identity: identity(0) }), batch]))
        expect(isTransient(error), error.message).to.equal(false)
      }
      expect(await query('SELECT id FROM press')).to.have.length(1)
      expect(rangesOf(await sink.committed())).to.deep.equal([])
    }
    await query('SET GLOBAL local_infile = 1')
  })

  it('refuses a table whose engine has no transactions', async () => {
    await query('CREATE TABLE press (`force` DOUBLE) ENGINE=MyISAM COMMENT=\'Sluice\'')
    const error = await failureOf(async () => (await openSink()).prepare([batchOf([1])]))
    expect(error.message).to.match(/engine MyISAM has no transactions.*InnoDB/)
    expect(isTransient(error)).to.equal(false)
  })

  it('refuses names that MySQL cannot have, and rows that no page can hold', async () => {
    const sink = await openSink()
    for (const name of ['ends ', 'ends\t', 'ends\r\n', '\f', 'rocket 🚀', 'n'.repeat(65)]) {
      expect((await failureOf(() => sink.prepare([rowOf({ [name]: ['float64', 1] })]))).code, name).to.equal('SLUICE_SINK_IDENTIFIER')
      expect((await failureOf(() => sink.prepare([batchOf([1], { source: name })]))).code, name).to.equal('SLUICE_SINK_IDENTIFIER')
    }
    for (const [count, type] of /** @type {[number, 'bool'|'string'][]} */ ([[1100, 'bool'], [900, 'string']])) {
      const value = type === 'bool' ? 1 : 'x'.repeat(40)
      const field = /** @type {[any, any]} */ ([type, value])
      const fields = Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, field]))
      const error = await failureOf(() => sink.prepare([rowOf(fields)]))
      expect(isTransient(error), error.message).to.equal(false)
    }
    await sink.write([rowOf({ db_row_id: ['int32', 1], SLUICE_ROW: ['int32', 2] })])
    expect(await rows('press')).to.deep.equal([{ time: T0, 'db_row_id~field': 1, 'SLUICE_ROW~field': 2 }])
  })

  describe('layouts of the paper', () => {
    const values = /** @type {import('../../gateway/batch/batch.js').Field[]} */ ([
      { name: 'angle', type: 'uint16' },
      { name: 'm1', type: 'uint16' }
    ])
    const batch = () => batchOf([0, 0, 0], {
      time: BigInt64Array.of(-1n, 1_700_000_000_000_000_005n, 1_700_000_000_999_999_999n),
      fields: values,
      columns: [Uint16Array.of(1, 4095, 7), Uint16Array.of(2, 65_535, 3)],
      validity: [null, Uint8Array.of(1, 1, 0)],
      identity: identity(0)
    })

    it('stores a row per value', async () => {
      const sink = await openSink({ layout: 'paper-individual' })
      expect(await sink.write([batch()])).to.deep.equal(ALL_NEW)
      expect((await sink.write([batch()])).duplicates).to.have.length(1)
      expect((await query('SELECT * FROM press ORDER BY second, nanosecond, number')).map(row => Object.values(row))).to.deep.equal([
        ['-1', 999_999_999, 0, 1],
        ['-1', 999_999_999, 1, 2],
        ['1700000000', 5, 0, 4095],
        ['1700000000', 5, 1, 65_535],
        ['1700000000', 999_999_999, 0, 7]
      ])
      expect((await query('DESCRIBE press')).map(({ Field: name, Type: type }) => `${name} ${type.replace(/\(\d+\)/, '')}`)).to.deep.equal([
        'second bigint',
        'nanosecond int',
        'number smallint unsigned',
        'measurement smallint unsigned'
      ])
      expect((await query('SHOW INDEX FROM press')).map(({ Column_name: column }) => column)).to.deep.equal(['second', 'nanosecond'])
    })

    it('refuses values that unsigned 16 bits do not hold, and fields that are not whole numbers', async () => {
      const sink = await openSink({ layout: 'paper-individual' })
      for (const bad of [rowOf({ angle: ['int32', 65_536] }), rowOf({ angle: ['int16', -1] }), batchOf([1])]) {
        expect(isTransient(await failureOf(() => sink.write([bad])))).to.equal(false)
      }
    })

    it('stores a document per second', async () => {
      await (await openSink({ layout: 'paper-bulk' })).write([batch()])
      expect((await query('SELECT * FROM press ORDER BY second')).map(row => Object.values(row))).to.deep.equal([
        ['-1', 45, '{"measurements":[{"ns":999999999,"m":[1,2]}]}'],
        ['1700000000', 74, '{"measurements":[{"ns":5,"m":[4095,65535]},{"ns":999999999,"m":[7,null]}]}']
      ])
      expect(await query('SELECT * FROM press WHERE size <> LENGTH(measurements)')).to.deep.equal([])
      const columns = (await query('DESCRIBE press')).map(({ Field: name, Type: type }) => `${name} ${type.replace(/\(\d+\)/, '')}`)
      expect(columns).to.deep.equal(['second bigint', 'size int unsigned', 'measurements longtext'])
      expect((await query('SHOW INDEX FROM press')).map(({ Column_name: column }) => column)).to.deep.equal(['second'])
    })
  })

  it('writes on several connections at a time', async () => {
    const sink = await openSink({ connections: 3 })
    const batches = Array.from({ length: 30 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
    await Promise.all(batches.map(batch => sink.write([batch])))
    expect(await rows('press')).to.have.length(30)
  })
})
