import { readFile } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { isTransient, open } from '../../gateway/databases/mongodb/sink.js'
import { insert, WRITE_CONCERN } from '../../gateway/databases/mongodb/insert.js'
import { connect } from '../../gateway/databases/mongodb/connection.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { requireServer } from '../servers/programs.js'
import { startRelay } from '../servers/relay.js'
import { batchOf, failureOf } from './contract/batches.js'

describe('MongoDB server', () => {
  /** @type {import('../servers/mongodb.js').MongodbServer} */
  let server

  before(async function () {
    requireServer(this, 'mongodb', missingMongodb())
    server = await startMongodb()
  })

  after(() => server?.remove())

  /** @param {Record<string, unknown>} options */
  const test = async options => {
    const connected = connect({ url: server.url, database: 'plant', ...options })
    try {
      return await connected.test()
    } finally {
      await connected.close()
    }
  }

  describe('what others have made', () => {
    /** @type {{close: () => Promise<void>}[]} */
    const opened = []
    const client = () => {
      const made = new MongoClient(server.url)
      opened.push(made)
      return made
    }
    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close()
    })

    /** @param {object} options */
    const openSink = async options => {
      const connected = connect({ url: server.url, ...options })
      opened.push(connected)
      return open(/** @type {any} */ (options), { server: connected })
    }

    it('is left alone, a collection whose documents are not a sink\'s, unless it is named itself', async () => {
      const options = { database: 'others' }
      const database = client().db('others')
      await database.collection('press').insertOne({ name: 'Anna' })
      const error = await failureOf(async () => (await openSink(options)).prepare([batchOf([1])]))
      expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
      expect(error.message).to.match(/"press".*not Sluice's.*Rename the source/)
      await (await openSink({ ...options, table: 'press' })).write([batchOf([1])])
      expect(await database.collection('press').countDocuments({})).to.equal(2)
      await database.createCollection('oven')
      for (let i = 0; i < 2; i++) await (await openSink(options)).write([batchOf([1], { source: 'oven' })])
      expect(await database.collection('oven').countDocuments({})).to.equal(2)
    })

    it('is not taken over, commit records of version 0.1', async () => {
      await client().db('old').collection('sluice_commits').insertOne({ of: 'x', table: 'press', gateway: 'gw', seq: 0, last: 0 })
      const error = await failureOf(async () => (await openSink({ database: 'old' })).committed())
      expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_RECORDS_OLD', true])
    })
  })

  it('reports what it finds when it is tested', async () => {
    expect(await test({})).to.match(/FerretDB.*protocol 7\.0.*database "plant", without a login/)
    const url = `${server.url}/?authMechanism=PLAIN`
    expect(await test({ url, user: server.user, password: server.password })).to.match(/logged in as "postgres"/)
  })

  it('waited for ever for a connection that was closed as it was used: it fails at once, and connects again', async () => {
    const relay = await startRelay(server.port)
    try {
      for (let turns = 0; turns < 8; turns++) { // of the event loop, until the end of the connection has been noticed
        const connected = connect({ url: `mongodb://127.0.0.1:${relay.port}`, database: 'plant', connections: 1 })
        const ping = () => connected.use(db => db.command({ ping: 1 }))
        await ping()
        relay.hangUp()
        for (let i = 0; i < turns; i++) await turn()
        await ping().catch(error => error)
        await ping()
        await connected.close()
      }
    } finally {
      await relay.cut()
    }
  })

  it('waited for ever for an answer that was lost on the way: the connection is given up', async () => {
    const relay = await startRelay(server.port)
    const connected = connect({ url: `mongodb://127.0.0.1:${relay.port}`, database: 'plant', connections: 1 }, { silenceMs: 1500 })
    try {
      const ping = () => connected.use(db => db.command({ ping: 1 }))
      await ping()
      relay.swallow()
      expect((await failureOf(ping)).message).to.match(/timed out/)
      await ping()
    } finally {
      await connected.close()
      await relay.cut()
    }
  })

  it('reports what is wrong, and what to do', async () => {
    /** @type {[Record<string, unknown>, RegExp][]} */
    const cases = [
      [
        { url: `${server.url}/?authMechanism=PLAIN`, user: server.user, password: 'wrong secret' },
        /authentication failed.*Check user and password/
      ],
      [
        { url: `${server.url}/?authMechanism=PLAIN`, user: server.user, password: '' },
        /asks for a password, and none is given.*Enter the password of the user/
      ],
      [
        { user: server.user, password: 'wrong secret' },
        /Unsupported authentication mechanism.*Check user and password, and authSource and authMechanism/s
      ],
      [{ url: 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300' }, /127\.0\.0\.1:1.*ECONNREFUSED.*Check the URL/],
      [{ url: 'mongodb://no-such-host.invalid/?serverSelectionTimeoutMS=300' }, /no-such-host\.invalid.*Check the host name/],
      [{ url: 'mongodb://127.0.0.1:0/' }, /port/i],
      [{ tls: 'verify', ca: '/no/such.pem' }, /no\/such\.pem/]
    ]
    for (const [options, text] of cases) {
      const error = await failureOf(() => test(options))
      expect(error.message).to.match(text).and.not.to.include('secret')
      expect(isTransient(error), error.message).to.equal(true)
    }
  })

  it('accepts no password in the URL, and does not show it', async () => {
    for (const url of [
      'mongodb://me:secret@127.0.0.1:27017/',
      'mongodb://me:se/cret@127.0.0.1:27017/',
      'mongodb://me:se?cret@127.0.0.1:27017',
      'mongodb+srv://me:se@cret@plant.example/?authSource=admin'
    ]) {
      const error = await failureOf(async () => connect({ url }))
      expect(error.code).to.equal('SLUICE_OPTIONS')
      expect(error.message).to.match(/(127\.0\.0\.1:27017|plant\.example) contains.*fields User and Password/).and.not.to.match(/cret|me:/)
    }
  })

  it('waits until most members have a write on their disks', async () => {
    const client = new MongoClient(server.url, { monitorCommands: true })
    /** @type {any[]} */
    const concerns = []
    client.on('commandStarted', ({ commandName, command }) => { if (commandName === 'insert') concerns.push(command.writeConcern) })
    const db = client.db('plant')
    await insert(db, 'direct', { bytes: Buffer.of(5, 0, 0, 0, 0), documents: [] })
    await db.collection('direct').insertOne({ x: 1 }, { writeConcern: WRITE_CONCERN })
    expect(concerns.map(({ w, j }) => ({ w, j }))).to.deep.equal([{ w: 'majority', j: true }, { w: 'majority', j: true }])
    await client.close()
  })

  it('encrypts, and verifies the server', async () => {
    const secure = await startMongodb({ tls: true })
    try {
      const url = `${secure.url}/?serverSelectionTimeoutMS=1000`
      const { certificate: ca } = secure
      for (const options of [{ tls: 'require' }, { tls: 'verify', ca }, { tls: 'verify', ca: await readFile(ca, 'utf8') }]) {
        const connected = connect({ url, ...options })
        await (await open({}, { server: connected })).write([batchOf([1])])
        await connected.close()
      }
      const untrusted = await failureOf(() => test({ url, tls: 'verify' }))
      expect(untrusted.message).to.match(/Set the CA certificate/)
      expect(isTransient(untrusted)).to.equal(true)
      const readable = await failureOf(() => test({ url: `${secure.url}/?serverSelectionTimeoutMS=300` }))
      expect(readable.message).to.match(/closed.*Check the URL and TLS/)
      const encrypted = await failureOf(() => test({ tls: 'require', url: `${server.url}/?serverSelectionTimeoutMS=300` }))
      expect(encrypted.message).to.match(/TLS connection.*Check the URL and TLS/)
    } finally {
      await secure.remove()
    }
  })
})
