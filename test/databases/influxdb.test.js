import { expect } from 'chai'
import { Batch, marker } from '../../gateway/batch/batch.js'
import { open, isTransient } from '../../gateway/databases/influxdb/sink.js'
import { connect } from '../../gateway/databases/influxdb/connection.js'
import { missingInfluxdb, startInfluxdb } from '../servers/influxdb.js'
import { requireServer } from '../servers/programs.js'
import { batchOf, EPOCH, failureOf, identity, rowOf, T0 } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { writerContract } from './contract/writer.js'

describe('InfluxDB sink', () => {
  /** @type {import('../servers/influxdb.js').InfluxdbServer} */
  let server
  /** @type {{close: () => Promise<void>}[]} */
  let opened
  let database = ''
  let databases = 0

  before(async function () {
    requireServer(this, 'influxdb', missingInfluxdb())
    server = await startInfluxdb()
  })

  after(() => server?.remove())

  beforeEach(() => {
    opened = []
    database = `plant ${databases++}`
  })

  afterEach(async () => {
    for (const each of opened) await each.close()
    await server.query(`DROP DATABASE "${database}"`)
  })

  const login = () => ({ host: '127.0.0.1', port: server.port, user: server.user, password: server.password, database })

  const openSink = async (options = {}) => {
    const connected = connect({ ...login(), ...options })
    const sink = await open(options, { server: connected })
    opened.push(sink, connected)
    return sink
  }

  /**
   * @param {string} table  points of it with all that the sink adds but the gateway's name and the mark of rows of the same time
   * @param {string} [policy]
   * @returns {Promise<Record<string, any>[]>}
   */
  const rows = async (table, policy) => {
    const quoted = `"${table.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    const { series = [] } = await server.query(`SELECT * FROM ${policy ? `"${policy}".` : ''}${quoted}`, { db: database })
    return series.flatMap((/** @type {any} */ { columns, values }) => values.map((/** @type {any[]} */ row) => {
      const cells = columns.map((/** @type {string} */ column, /** @type {number} */ i) => [column, plain(column, row[i])])
      return Object.fromEntries(cells.filter((/** @type {[string, unknown]} */ [column]) => {
        return table === 'sluice_commits' || (column !== 'gateway' && column !== 'row')
      }))
    }))
  }

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: async () => {
      const { series = [] } = await server.query('SHOW MEASUREMENTS', { db: database })
      return series.flatMap((/** @type {any} */ { values }) => values.flat())
        .filter((/** @type {string} */ name) => name !== 'sluice_commits')
    },
    drop: async table => { await server.query(`DROP MEASUREMENT "${table}"`, { db: database }) },
    guarantee: 'keys',
    hasColumns: false,
    layouts: ['narrow'],
    nan: undefined,
    ignoresCase: false,
    differs: {
      'stores the infinities, and NaN as the database can': 'it has no infinities',
      'keeps nanoseconds over the whole range of time': 'a point has a field, and the ends of the range are not times',
      'stores tags as columns': 'it has no empty tags',
      'leaves out what it has already': 'points of the same time overwrite each other',
      'takes batches without identity as they come': 'points of the same time overwrite each other',
      'still knows each batch when records are compacted': 'points of the same time overwrite each other',
      'is prepared by several at once': 'fields come with their first values'
    }
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    async poison (batches, isPoison) {
      await server.query(`CREATE DATABASE "${database}" WITH DURATION ${daysSince(T0) + 1000}d`)
      let first = 0
      return batches.map(batch => {
        const from = first
        first += batch.rows
        return new Batch({ ...batch, time: batch.time.map((time, i) => isPoison(from + i) ? BigInt(from + i) : time) })
      })
    },
    server: { stop: () => server.stop(), start: () => server.start() },
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

  /** @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const storeAll = async (...batches) => {
    const sink = await openSink()
    await sink.prepare(batches)
    await sink.write(batches)
    return sink
  }

  const at = (/** @type {number[]} */ ...nanoseconds) => BigInt64Array.from(nanoseconds, offset => T0 + BigInt(offset))

  describe('points', () => {
    it('keep nanoseconds, from one end of the range of times to the other', async () => {
      const time = [-(2n ** 63n) + 2n, -1001n, -1n, 0n, 999n, T0, T0 + 1n, 2n ** 63n - 2n]
      await storeAll(batchOf(time.map((_, i) => i), { time: BigInt64Array.from(time) }))
      expect((await rows('press')).map(row => row.time)).to.deep.equal(time)
    })

    it('cannot be infinite, or outside of time: such rows are refused by name', async () => {
      const sink = await openSink()
      const batch = batchOf([1, Infinity, NaN, -Infinity, 5], { time: BigInt64Array.of(T0, T0 + 1n, T0 + 2n, T0 + 3n, 2n ** 63n - 1n) })
      const error = await failureOf(() => sink.write([batchOf([0]), batch]))
      const faults = error.faults.map((/** @type {any} */ { batch: its, row }) => [its === batch, row])
      expect(faults).to.deep.equal([[true, 1], [true, 3], [true, 4]])
      expect(error.message).to.match(/3 rows.*"force" is Infinity/)
      expect(isTransient(error)).to.equal(false)
      await sink.write([batch.pick([0, 2])])
      expect(await rows('press')).to.deep.equal([{ time: T0, force: 1 }])
    })

    it('have no empty tags', async () => {
      await storeAll(batchOf([1], { tags: { line: 'Süd, \\x=1', shift: '' } }))
      expect(await rows('press')).to.deep.equal([{ time: T0, line: 'Süd, \\x=1', force: 1 }])
    })

    it('are refused under names and tags that the line protocol cannot say', async () => {
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

    it('of the same time in one batch are all kept, and again when parts of it are written again', async () => {
      const batch = batchOf([1, 2, 3, 4], { time: at(0, 0, 5, 0), identity: identity(0) })
      const sink = await openSink()
      await sink.write([batch.pick([1, 3]), batch.slice(0, 3)], { probe: true })
      await sink.write([batch])
      expect((await rows('press')).map(({ force }) => force)).to.have.members([1, 2, 4, 3])
      const { series } = await server.query('SELECT "force", "row" FROM press', { db: database })
      const values = series[0].values.map((/** @type {any[]} */ [, force, row]) => [force, row])
      expect(values).to.have.deep.members([[1, null], [2, '1'], [4, '2'], [3, null]])
    })

    it('of the same time in two batches are one: the later wins', async () => {
      const sink = await openSink()
      for (const [seq, value] of [[0, 1], [1, 2]]) await sink.write([batchOf([value], { identity: identity(seq) })])
      expect(await rows('press')).to.deep.equal([{ time: T0, force: 2 }])
    })

    it('of two gateways are kept apart', async () => {
      await storeAll(...['a', 'b'].map(gateway => batchOf([1], { identity: { ...EPOCH, gateway, seq: 0 } })))
      expect(await rows('press')).to.have.length(2)
      const { series } = await server.query('SHOW TAG VALUES FROM press WITH KEY = gateway', { db: database })
      expect(series[0].values).to.deep.equal([['gateway', 'a'], ['gateway', 'b']])
    })

    it('have fields as tags where told so', async () => {
      const sink = await openSink({ tagFields: 'address, unit', table: 'bus' })
      await sink.write([rowOf({ address: ['int32', 17], unit: ['string', '°C'], value: ['float64', 1.5] })])
      const { series } = await server.query('SHOW SERIES', { db: database })
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
      await server.query(`CREATE RETENTION POLICY other ON "${database}" DURATION INF REPLICATION 1`)
      const sink = await openSink({ retentionPolicy: 'other' })
      await sink.prepare([batchOf([1])])
      await sink.write([batchOf([1])])
      expect(await rows('press', 'other')).to.deep.equal([{ time: T0, force: 1 }])
    })

    it('made by others since are looked at again', async () => {
      const sink = await openSink()
      const batch = batchOf([1])
      await sink.prepare([batch])
      await storeAll(rowOf({ force: ['string', 'x'] }))
      expect(isTransient(await failureOf(() => sink.write([batch])))).to.equal(true)
      expect((await failureOf(() => sink.prepare([batch]))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
    })
  })

  describe('commit records', () => {
    it('tell what is stored, which is left out then', async () => {
      const sink = await openSink()
      const batches = [0, 1, 2].map(seq => batchOf([seq], { time: at(seq), identity: identity(seq) }))
      expect(await sink.write(batches.slice(0, 2))).to.deep.equal({ duplicates: [] })
      expect((await sink.write(batches.slice(1))).duplicates).to.deep.equal([batches[1]])
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 1, 2])
    })

    it('come after their rows, so that rows without one may be written again', async () => {
      const sink = await openSink()
      const batch = batchOf([1, 2], { identity: identity(0) })
      await sink.write([batch], { probe: true })
      expect(await sink.committed()).to.deep.equal([])
      await sink.write([batch])
      expect(await rows('press')).to.have.length(2)
      expect(await sink.committed()).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
    })

    it('hold any name', async () => {
      const sink = await openSink({ table: 'all' })
      const odd = ['a\nb', 'a\\', '"', 'a,b c=d', '\'', '🚀', ' ', '\\"\n,']
      const batches = odd.map(name => marker({ gateway: name, source: `${name}.`, epoch: `${name}!`, seq: 2 ** 40 }))
      await sink.write(batches)
      const stored = await (await openSink({ table: 'all' })).committed()
      const names = stored.map(({ gateway, source, epoch }) => [gateway, source, epoch])
      expect(names).to.have.deep.members(odd.map(name => [name, `${name}.`, `${name}!`]))
      expect(stored[0].ranges).to.deep.equal([[2 ** 40, 2 ** 40]])
    })

    it('are merged, and still known', async () => {
      const present = [0, 1, 2, 4, 5, 6, 7, 8]
      const batches = present.map(seq => batchOf([seq], { time: at(seq), identity: identity(seq) }))
      const old = batches.map(batch => batch.withIdentity({ ...EPOCH, epoch: '0-z', seq: Number(batch.identity?.seq) }))
      const sink = await storeAll(...batches, ...old)
      const before = await sink.committed()
      for (let i = 0; i < 2; i++) await sink.compact([{ ...EPOCH, first: 7, last: 8 }])
      const records = (await rows('sluice_commits')).map(({ epoch, time, last }) => [epoch, time, last])
      expect(records).to.have.deep.members([['0-z', 0n, 2], ['0-z', 4n, 8], ['1-a', 0n, 2], ['1-a', 4n, 6], ['1-a', 7n, 7], ['1-a', 8n, 8]])
      for (const each of [sink, await openSink()]) {
        expect(await each.committed()).to.deep.equal(before)
        expect((await each.write([...batches, ...old])).duplicates).to.have.length(16)
      }
      await sink.write([batchOf([3], { time: at(3), identity: identity(3) })])
      expect((await sink.committed())[1].ranges).to.deep.equal([[0, 8]])
    })

    it('outlive rows that are kept for a time only', async () => {
      await server.query(`CREATE DATABASE "${database}" WITH DURATION ${daysSince(T0) + 1000}d NAME years`)
      const sink = await storeAll(batchOf([1], { identity: identity(0) }))
      expect(await rows('press', 'years')).to.have.length(1)
      const records = await rows('sluice_commits', 'sluice_commits')
      expect(records.map(({ policy, sink_table: table }) => [policy, table])).to.deep.equal([['years', 'press']])
      expect(await sink.committed()).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
      expect(await (await openSink({ retentionPolicy: 'sluice_commits' })).committed(), 'of another policy').to.deep.equal([])
    })

    it('go where nothing is dropped when the retention policy has been changed meanwhile', async () => {
      const sink = await openSink()
      await sink.write([batchOf([1], { identity: identity(0), time: BigInt64Array.of(BigInt(Date.now()) * 1_000_000n) })])
      await server.query(`ALTER RETENTION POLICY autogen ON "${database}" DURATION 30d`)
      const next = batchOf([2], { identity: identity(1), time: BigInt64Array.of(BigInt(Date.now()) * 1_000_000n) })
      const error = await failureOf(() => sink.write([next]))
      expect(error.message).to.match(/^Commit records: .*beyond retention policy/)
      expect(isTransient(error)).to.equal(true)
      await sink.write([next])
      expect((await (await openSink()).committed())[0].ranges).to.deep.include([1, 1])
    })

    it('need an administrator once, where there is no such policy', async () => {
      await server.query(`CREATE DATABASE "${database}" WITH DURATION 100w NAME weeks`)
      await server.query('CREATE USER logger WITH PASSWORD \'secret\'')
      await server.query(`GRANT ALL ON "${database}" TO logger`)
      try {
        const sink = await openSink({ user: 'logger', password: 'secret' })
        const error = await failureOf(() => sink.prepare([batchOf([1])]))
        expect(error.message).to.match(/"logger" may not create the retention policy "sluice_commits".*as an administrator/)
        expect(isTransient(error)).to.equal(true)
        await server.query(`CREATE RETENTION POLICY sluice_commits ON "${database}" DURATION INF REPLICATION 1`)
        await sink.write([batchOf([1], { time: BigInt64Array.of(BigInt(Date.now()) * 1_000_000n) })])
        expect(await rows('press')).to.have.length(1)
      } finally {
        await server.query('DROP USER logger')
      }
    })
  })

  it('keeps what it has acknowledged when the server is killed', async () => {
    const sink = await openSink()
    for (let seq = 0; seq < 3; seq++) {
      await sink.write([batchOf([seq], { time: at(seq), identity: identity(seq) })])
      await server.kill()
      expect(isTransient(await failureOf(() => sink.committed()))).to.equal(true)
      await server.start()
    }
    expect((await sink.committed())[0].ranges).to.deep.equal([[0, 2]])
    expect(await rows('press')).to.have.length(3)
  })

  it('makes a dropped database again', async () => {
    const sink = await storeAll(batchOf([1], { identity: identity(0) }))
    await server.query(`DROP DATABASE "${database}"`)
    const error = await failureOf(() => sink.write([batchOf([2], { identity: identity(1) })]))
    expect(error.message).to.match(/database not found/)
    expect(isTransient(error)).to.equal(true)
    expect(await sink.committed()).to.deep.equal([])
    await sink.write([batchOf([1], { identity: identity(0) })])
    expect(await rows('press')).to.have.length(1)
  })

  it('compresses where told so', async () => {
    const sink = await openSink({ compression: 'always' })
    await sink.write([batchOf(Array.from({ length: 20_000 }, (_, i) => i))])
    expect(await rows('press')).to.have.length(20_000)
  })

  it('breaks off a write that is aborted', async () => {
    const sink = await openSink()
    const numbers = Array.from({ length: 20_000 }, (_, i) => i)
    const batches = Array.from({ length: 5 }, (_, seq) => batchOf(numbers, { identity: identity(seq) }))
    await sink.prepare(batches)
    const abort = new AbortController()
    const write = failureOf(() => sink.write(batches, { signal: abort.signal }))
    setTimeout(() => abort.abort(new Error('closing')), 20)
    expect((await write).message).to.equal('closing')
    expect(await sink.committed()).to.deep.equal([])
  })

  it('sends less at once to a server that takes no more', async () => {
    const small = await startInfluxdb({ settings: 'max-body-size = 20000' })
    try {
      const sink = await openSink({ port: small.port })
      await sink.write([batchOf(Array.from({ length: 5000 }, (_, i) => i))])
      expect((await small.query('SELECT count(force) FROM press', { db: database })).series[0].values[0][1]).to.equal(5000)
      const error = await failureOf(() => sink.write([rowOf({ note: ['string', 'x'.repeat(30_000)] })]))
      expect(error.message).to.match(/Entity Too Large/i)
      expect(isTransient(error)).to.equal(false)
    } finally {
      await small.remove()
    }
  })
})

/** @param {bigint} time  in nanoseconds */
function daysSince (time) {
  return Math.round((Date.now() - Number(time / 1_000_000n)) / 86_400_000)
}

/** As the contract compares them. @param {string} column @param {any} value */
function plain (column, value) {
  if (column === 'time') return BigInt(value)
  if (typeof value === 'boolean') return Number(value)
  return /bytes|blob/i.test(column) && value !== null ? `0x${Buffer.from(value, 'base64').toString('hex')}` : value
}
