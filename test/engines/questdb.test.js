import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { connect } from '../../gateway/databases/questdb/connection.js'
import { isTransient, open } from '../../gateway/databases/questdb/sink.js'
import { requireServer } from '../servers/programs.js'
import { missingQuestdb, startQuestdb } from '../servers/questdb.js'
import { ALL_NEW, batchOf, failureOf, identity, T0, withPoison } from '../databases/contract/batches.js'
import { sinkContract } from '../databases/contract/contract.js'
import { keyedContract, SELDOM_DIFFERS, seldomTest } from '../databases/contract/keyed.js'
import { writerContract } from '../databases/contract/writer.js'
import { QuestdbDatabase } from './questdb-database.js'

describe('QuestDB sink', () => {
  const database = QuestdbDatabase.inSuite()
  const { openSink, query, rows } = database
  const forget = () => query('TRUNCATE TABLE sluice_commits')

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: async () => (await query('SHOW TABLES')).map(([name]) => name).filter(name => name !== 'sluice_commits'),
    setBack: async seq => {
      await database.settled('sluice_commits', 'press')
      await query('CREATE TABLE kept AS (SELECT * FROM sluice_commits WHERE timestamp::long < ' + seq + ' OR record LIKE \'{"table":""%\')')
      await query('TRUNCATE TABLE sluice_commits')
      await query('INSERT INTO sluice_commits SELECT * FROM kept')
      await query('DROP TABLE kept')
      await query('CREATE TABLE kept AS (SELECT * FROM press WHERE force < ' + seq + ')')
      await query('TRUNCATE TABLE press')
      await query('INSERT INTO press SELECT * FROM kept')
      await query('DROP TABLE kept')
    },
    drop: async table => { await query(`DROP TABLE "${table}"`) },
    guarantee: 'keys',
    hasColumns: true,
    layouts: ['narrow'],
    nan: null,
    ignoresCase: true,
    differs: {
      'stores the infinities, and NaN as the database can': 'it has no infinities: "refuses what it cannot hold"',
      'keeps nanoseconds over the whole range of time': 'its time begins in 1970: "refuses what it cannot hold"',
      'stores every type at its extremes': 'the least of 64 bits is NULL: "refuses what it cannot hold"',
      'stores tags as columns': 'the line protocol has no empty tags',
      ...SELDOM_DIFFERS
    }
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => withPoison(batches, isPoison, ({ time }, isOne) => {
      return { time: time.map((its, row) => isOne(row) ? -its : its) }
    }),
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  keyedContract({ open: openSink, stored: database.stored, forget })

  it('refuses what it cannot hold', async () => {
    const sink = await openSink()
    const infinite = await failureOf(() => sink.write([batchOf([1, Infinity])]))
    const early = await failureOf(() => sink.write([batchOf([1, 2], { time: BigInt64Array.of(0n, -1n) })]))
    expect([infinite, early].map(error => [isTransient(error), /** @type {any} */ (error).faults.map((/** @type {any} */ { row }) => row)]))
      .to.deep.equal([[false, [1]], [false, [1]]])
    const least = new Batch({
      source: 'oven', time: BigInt64Array.of(T0), fields: [{ name: 'count', type: 'int64' }], columns: [BigInt64Array.of(-(2n ** 63n))]
    })
    expect(isTransient(await failureOf(() => sink.write([least])))).to.equal(false)
    await sink.write([batchOf([NaN, 2], { time: BigInt64Array.of(0n, 9_214_646_399_999_999_999n) })])
    expect(await rows('press')).to.deep.equal([{ time: 0n, force: null }, { time: 9_214_646_399_999_999_999n, force: 2 }])
  })

  seldomTest({
    open: openSink,
    isTransient,
    forget: async () => {
      await database.settled('sluice_commits')
      await forget()
    }
  })

  it('loses nothing over a connection that has written to a table that was dropped, when a reading has found that out', async () => {
    const sink = await openSink({ connections: 1 })
    await sink.write([batchOf([1], { identity: identity(0) })])
    for (const table of ['press', 'sluice_commits']) await query(`DROP TABLE ${table}`)
    await failureOf(() => sink.committed())
    await sink.committed()
    expect(await sink.write([batchOf([2], { identity: identity(1) })])).to.deep.equal(ALL_NEW)
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([2])
  })

  it('stores nothing in a table that is suspended, says so, and goes on once it is resumed', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1], { identity: identity(0) })])
    await query('ALTER TABLE press SUSPEND WAL')
    const error = await failureOf(() => sink.write([batchOf([2], { identity: identity(1) })]))
    expect(isTransient(error)).to.equal(true)
    const [, resume] = /the table "press" is suspended.* run (ALTER TABLE "press" RESUME WAL)/.exec(error.message) ?? []
    await query(resume)
    expect(await sink.write([batchOf([2], { identity: identity(1) })])).to.deep.equal(ALL_NEW)
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([1, 2])
  })

  it('knows after a restart what an acknowledged write has left', async () => {
    const batch = batchOf([1, 2], { identity: identity(0) })
    await (await openSink()).write([batch])
    await database.server.kill()
    await database.server.start()
    expect((await (await openSink()).write([batch])).duplicates).to.deep.equal([batch])
    expect(await rows('press')).to.have.length(2)
  })

  it('says which table a server that was killed has left half-made, and stores all once that is dropped', async function () {
    this.timeout(120_000)
    const dir = await mkdtemp(join(tmpdir(), 'sluice-questdb-'))
    const server = await startQuestdb({ dir })
    const own = connect({ port: server.port })
    try {
      const sink = await open({}, { server: own })
      await sink.prepare([batchOf([1])])
      await server.kill()
      const table = (await readdir(join(dir, 'db'))).find(name => name.startsWith('press~')) ?? ''
      await rm(join(dir, 'db', table, 'txn_seq'), { recursive: true }) // what it makes last, as was seen
      await server.start()
      const error = await failureOf(() => sink.write([batchOf([1])]))
      expect(isTransient(error)).to.equal(true)
      const [, look, drop] = /the table "press" is half-made.* If (SELECT .*) is 0, run (DROP TABLE "press"),/.exec(error.message) ?? []
      expect(await own.query(look)).to.deep.equal([[0]])
      await own.query(drop).catch(() => {})
      expect(await sink.write([batchOf([1])])).to.deep.equal(ALL_NEW)
      await own.settled('press')
      expect(await own.query(look)).to.deep.equal([[1]])
      await sink.close()
    } finally {
      await own.close()
      await server.remove()
    }
  })

  it('says that the disk of the server is full, each time alike, and stores all once there is room', async function () {
    this.timeout(120_000)
    const dir = await mkdtemp(join(tmpdir(), 'sluice-questdb-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600m', 'tmpfs', dir], { stdio: 'pipe' })
    } catch {
      await rm(dir, { recursive: true })
      console.log('      skipped: no disk of its own can be mounted here')
      return this.skip()
    }
    const server = await startQuestdb({ dir })
    const own = connect({ port: server.port })
    try {
      const sink = await open({}, { server: own })
      const write = (/** @type {number} */ seq) => sink.write([batchOf([seq], { identity: identity(seq) })])
      await write(0)
      for (const table of ['press', 'sluice_commits']) await own.settled(table)
      const filler = join(dir, 'filler')
      await writeFile(filler, Buffer.alloc(600 * 2 ** 20)).catch(() => {}) // as much as there is room for
      await truncate(filler, (await stat(filler)).size - 2 ** 16) // to start with
      await server.kill()
      await server.start() // it begins files of its own for what is written next
      const errors = [await failureOf(() => write(1)), await failureOf(() => write(1))]
      expect(errors[0].message).to.match(/No space left\. Make room on the server's disk/)
      expect(errors[1].message).to.equal(errors[0].message)
      expect(isTransient(errors[0])).to.equal(true)
      await rm(filler)
      expect(await write(1)).to.deep.equal(ALL_NEW)
      await own.settled('press')
      expect(await own.query('SELECT force FROM press')).to.deep.equal([[0], [1]])
      await sink.close()
    } finally {
      await own.close()
      await server.kill()
      execFileSync('umount', [dir])
      await server.remove()
    }
  })

  it('stores a write in one request, and in smaller ones where what is in front of the server refuses that', async () => {
    const MAX_BYTES = 200_000
    /** @type {number[]} */
    const sizes = []
    const proxy = http.createServer((request, response) => {
      request.toArray().then(async parts => {
        const body = Buffer.concat(parts)
        if (request.url?.startsWith('/write')) sizes.push(body.length)
        if (body.length > MAX_BYTES) return response.writeHead(413).end()
        const { method, url: path } = request
        const options = { host: '127.0.0.1', port: database.server.port, method, path, headers: { 'content-length': body.length } }
        const [answer] = await once(http.request(options).end(body), 'response')
        response.writeHead(answer.statusCode).end(Buffer.concat(await answer.toArray()))
      })
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address())
    try {
      const values = Array.from({ length: 10_000 }, (_, row) => row / 7)
      await (await openSink({ port })).write([batchOf(values, { identity: identity(0) })])
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal(values)
      const [, first, ...rest] = sizes // the very first names the database
      expect(first).to.be.above(MAX_BYTES)
      expect(rest.filter(size => size <= MAX_BYTES)).to.have.length.above(3)
    } finally {
      proxy.close()
    }
  })

  it('leaves tables alone whose rows are not told apart', async () => {
    await query('CREATE TABLE press (timestamp TIMESTAMP_NS, force DOUBLE) TIMESTAMP(timestamp) PARTITION BY DAY WAL')
    const refused = await failureOf(async () => (await openSink()).write([batchOf([1])]))
    expect([refused.code, isTransient(refused)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
  })

  it('removes whole days that are too old', async () => {
    const DAY = 86_400_000_000_000n
    const sink = await openSink()
    await sink.write([batchOf([1, 2, 3], { time: BigInt64Array.of(T0, T0 + DAY, T0 + 2n * DAY) })])
    expect(await sink.span?.()).to.deep.equal({ oldest: T0, newest: T0 + 2n * DAY })
    await sink.removeBefore?.(T0 + DAY, { maxRows: 1000 })
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([2, 3])
  })

  it('tells by Test connection what it found', async () => {
    expect(await database.connect().test()).to.match(/^QuestDB 9\.\S+\.$/)
    const error = await failureOf(() => database.connect({ port: 1 }).test())
    expect(error).to.include({ code: 'SLUICE_SINK_CONNECT' }).and.to.have.property('fix').that.matches(/Check host and port/)
  })
})

describe('QuestDB server with a login, which does not sync', () => {
  /** @type {import('../servers/questdb.js').QuestdbServer} */
  let server

  before(async function () {
    this.timeout(120_000)
    requireServer(this, 'questdb', missingQuestdb())
    server = await startQuestdb({ login: true, commitMode: 'nosync' })
  })

  after(() => server?.remove())

  /** @param {object} options */
  const told = async options => {
    const { port, user, password } = server
    const connected = connect({ port, user, password, ...options })
    try {
      return await connected.test()
    } catch (error) {
      return `${/** @type {Error} */ (error).message} (${/** @type {any} */ (error).code})`
    } finally {
      await connected.close()
    }
  }

  it('is reached, and its way of committing told', async () => {
    expect(await told({})).to.match(/logged in as "gateway"\. .*cairo\.commit\.mode: nosync.*Set it to sync/)
  })

  it('says what is wrong with a login', async () => {
    expect(await told({ password: 'password of nobody' })).to.match(/Check user and password.*SLUICE_SINK_CONNECT/)
      .and.not.to.include('password of nobody')
    expect(await told({ password: '' })).to.match(/asks for a password.*user "gateway".*SLUICE_SINK_CONNECT/)
  })
})
