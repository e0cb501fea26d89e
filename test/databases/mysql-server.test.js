import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect as connectTo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { isTransient, open } from '../../gateway/databases/mysql/sink.js'
import { connect } from '../../gateway/databases/mysql/connection.js'
import { startMariadb } from '../servers/mariadb.js'
import { suspend } from '../servers/programs.js'
import { ALL_NEW, batchOf, failureOf, identity, rangesOf } from './contract/batches.js'
import { lostAnswersTest } from './contract/lost-answers.js'
import { restoreTest } from './contract/restore.js'
import { MysqlDatabase } from './mysql-database.js'

describe('MySQL server', () => {
  const database = MysqlDatabase.inSuite({ tls: true, options: ['--bind-address=127.0.0.1,127.0.0.2'] })
  const { openSink, query, rows } = database

  restoreTest({ openSink, isTransient, rows, database })

  it('does not take over commit records of version 0.1, and tells what to do', async () => {
    await query('CREATE TABLE sluice_commits (stream BINARY(32), seq BIGINT, last BIGINT, PRIMARY KEY (stream, seq))')
    const error = await failureOf(async () => (await openSink()).committed())
    expect(error.code).to.equal('SLUICE_SINK_RECORDS_OLD')
    expect(isTransient(error)).to.equal(true)
  })

  it('reports what it finds when it is tested', async () => {
    expect(await database.connect().test()).to.match(
      /^MariaDB 10\.\S+, database "plant", logged in as sluice@%\. LOAD DATA LOCAL is allowed: the fast way\.$/
    )
    await query('SET GLOBAL local_infile = 0')
    await query('SET GLOBAL innodb_flush_log_at_trx_commit = 2')
    try {
      expect(await database.connect().test()).to.match(
        /does not allow LOAD DATA LOCAL.*local_infile=1.*can lose what has been committed: innodb_flush_log_at_trx_commit is 2/
      )
    } finally {
      await query('SET GLOBAL local_infile = 1')
      await query('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
    }
  })

  it('warns once of what costs speed or safety', async () => {
    /** @type {string[]} */
    const said = []
    const log = { info () {}, warn: (/** @type {string} */ text) => said.push(text), error () {} }
    const server = database.connect({ connections: 3 }, { log })
    await query('SET GLOBAL local_infile = 0')
    await query('SET GLOBAL innodb_flush_log_at_trx_commit = 0')
    try {
      await Promise.all([server.test(), server.test(), server.test()])
    } finally {
      await query('SET GLOBAL local_infile = 1')
      await query('SET GLOBAL innodb_flush_log_at_trx_commit = 1')
    }
    expect(said).to.have.length(2)
    expect(said.join('\n')).to.match(/local_infile=1/).and.to.match(/innodb_flush_log_at_trx_commit is 0/)
  })

  it('reports what is wrong with the connection, and waits', async () => {
    await query('CREATE OR REPLACE USER visitor IDENTIFIED BY \'let me in\'')
    /** @type {[object, RegExp][]} */
    const cases = [
      [{ password: 'wrong one' }, /Access denied.*Check user and password/],
      [{ password: '' }, /asks for a password, and none is given.*Enter the password of the user/],
      [{ user: 'visitor', password: 'let me in' }, /Access denied.*Grant the user rights/],
      [{ database: 'nowhere' }, /"nowhere".*Create the database/],
      [{ host: 'no-such-host.invalid' }, /no-such-host\.invalid.*Check the host name/],
      [{ host: '/no/such/socket' }, /\/no\/such\/socket.*Check the path of the socket/],
      [{ port: 1 }, /127\.0\.0\.1:1.*Check host and port/],
      [{ tls: 'verify', ca: '/no/such.pem' }, /no\/such\.pem/]
    ]
    for (const [options, text] of cases) {
      const error = await failureOf(() => database.connect(options).test())
      expect(error.message).to.match(text).and.not.to.match(/sluice password|wrong one|let me in/)
      const sink = await openSink(options)
      expect(isTransient(await failureOf(() => sink.prepare([batchOf([1])]))), error.message).to.equal(true)
    }
  })

  it('gives up a test that takes too long', async () => {
    const abort = new AbortController()
    const test = failureOf(() => database.connect({ connections: 1 }).test({ signal: abort.signal }))
    abort.abort(new Error('closed'))
    expect((await test).message).to.equal('closed')
  })

  it('gives up a test that waits for a connection which others do not return', async () => {
    const server = database.connect({ connections: 1 })
    const { promise, resolve } = Promise.withResolvers()
    await new Promise(lent => { server.use(async () => { lent(undefined); await promise }) })
    const abort = new AbortController()
    const test = failureOf(() => server.test({ signal: abort.signal }))
    abort.abort(new Error('closed'))
    expect((await test).message).to.equal('closed')
    resolve(undefined)
    expect(await server.test()).to.include('logged in')
  })

  it('does not keep a transaction open for a gateway that has gone', async () => {
    const [[{ seconds }]] = await database.connect()
      .use(async connection => /** @type {any} */ (connection.query('SELECT @@idle_transaction_timeout AS seconds')))
    expect(seconds).to.equal(60)
  })

  lostAnswersTest({
    port: () => database.server.port,
    connect: (port, silenceMs) => connect({ ...database.login, port, connections: 2 }, { silenceMs }),
    sleepTwoSeconds: 'SELECT SLEEP(2)'
  })

  it('closes while the server does not answer', async function () {
    this.timeout(8000)
    const server = database.connect()
    const sink = await open({}, { server })
    await sink.write([batchOf([1], { identity: identity(0) })])
    const resume = await suspend(database.server.pid)
    try {
      const writes = [1, 2].map(seq => failureOf(() => sink.write([batchOf([1], { identity: identity(seq) })])))
      await server.close()
      for (const { message } of await Promise.all(writes)) expect(message).to.match(/closed|lost|ended/i)
    } finally {
      resume()
    }
  })

  it('waits for a missing permission', async () => {
    await query('CREATE OR REPLACE USER logger IDENTIFIED BY \'secret\'')
    await query('GRANT SELECT ON plant.* TO logger')
    const logger = await openSink({ user: 'logger', password: 'secret' })
    const denied = await failureOf(() => logger.prepare([batchOf([1])]))
    expect(denied.message).to.match(/CREATE command denied.*Grant/)
    expect(isTransient(denied)).to.equal(true)
    await query('GRANT INSERT, CREATE, ALTER ON plant.* TO logger')
    await logger.write([batchOf([1], { identity: identity(0) })])
    expect(await database.rows('press')).to.have.length(1)
    await logger.write([batchOf([1], { identity: identity(1) })])
    const unlockable = await failureOf(() => logger.compact([{ ...identity(0), first: 2, last: 2 }]))
    expect(unlockable.message).to.match(/Access denied.*LOCK TABLES/)
    expect(isTransient(unlockable)).to.equal(true)
  })

  it('continues after the server has been stopped or killed', async () => {
    const sink = await openSink()
    let seq = 0
    for (const end of /** @type {const} */ (['stop', 'kill'])) {
      const batch = batchOf([seq], { identity: identity(seq++) })
      await sink.write([batch])
      await database.server[end]()
      expect(isTransient(await failureOf(() => sink.write([batch])))).to.equal(true)
      expect(isTransient(await failureOf(() => sink.committed()))).to.equal(true)
      await database.server.start()
      expect((await sink.write([batch])).duplicates).to.deep.equal([batch])
      await database.reconnect()
    }
    expect(await rows('press')).to.have.length(2)
    expect(rangesOf(await sink.committed())[0].ranges).to.deep.equal([[0, 1]])
  })

  it('ends a write that is aborted while it waits, at the server too', async () => {
    const sink = await openSink()
    const batch = batchOf([1], { identity: identity(0) })
    await sink.prepare([batch])
    await query('LOCK TABLES press WRITE')
    const abort = new AbortController()
    const write = failureOf(() => sink.write([batch], { signal: abort.signal }))
    const waiting = async () => (await query('SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE \'LOAD DATA%\'')).length
    while (await waiting() === 0) await sleep(5)
    abort.abort(new Error('closing'))
    expect((await write).message).to.equal('closing')
    while (await waiting() > 0) await sleep(5)
    await query('UNLOCK TABLES')
    expect(await sink.write([batch])).to.deep.equal(ALL_NEW)
    expect(await rows('press')).to.have.length(1)
  })

  it('left a connection open at the server for each work that was broken off', async () => {
    const connections = async () => Number((await query('SHOW STATUS LIKE \'Threads_connected\''))[0].Value)
    const connected = database.connect()
    const before = await connections()
    for (let i = 0; i < 5; i++) {
      const abort = new AbortController()
      await failureOf(() => connected.use(async connection => {
        abort.abort(new Error('closing'))
        await connection.query('SELECT 1')
      }, abort.signal))
    }
    for (let i = 0; i < 200 && await connections() > before; i++) await sleep(10)
    expect(await connections()).to.equal(before)
  })

  it('waits while the disk is full, and continues when there is room', async function () {
    const disk = await mkdtemp(join(tmpdir(), 'sluice-full-'))
    try {
      execFileSync(
        'mount',
        ['-t', 'tmpfs', '-o', `size=8m,uid=${execFileSync('id', ['-u', 'mysql']).toString().trim()}`, 'tmpfs', disk],
        { stdio: 'pipe' }
      )
    } catch {
      await rm(disk, { recursive: true })
      console.log('      skipped, a small disk: mounting a tmpfs needs root')
      return this.skip()
    }
    try {
      await query(`CREATE TABLE press (\`force\` DOUBLE, note LONGTEXT) DATA DIRECTORY='${disk}' COMMENT='Sluice'`)
      const sink = await openSink()
      const large = batchOf(Array(250_000).fill(1), { identity: identity(0) })
      const error = await failureOf(() => sink.write([large]))
      // MariaDB may end itself when it has no room to roll back.
      expect(error.message).to.match(/table 'press' is full|server closed the connection/i)
      expect(isTransient(error)).to.equal(true)
      execFileSync('mount', ['-o', 'remount,size=60m', disk])
      if (!database.server.pid) {
        await database.server.start()
        await database.reconnect()
      }
      expect(await sink.write([large])).to.deep.equal(ALL_NEW)
      await query('DROP TABLE press')
    } finally {
      execFileSync('umount', ['-l', disk])
      await rm(disk, { recursive: true, force: true })
    }
  })

  it('encrypts, and verifies the server', async () => {
    const { ca } = database.server
    for (const options of [
      { tls: 'require' },
      { tls: 'verify', ca },
      { tls: 'verify', ca: await readFile(ca, 'utf8'), host: 'localhost' }
    ]) {
      const server = database.connect(options)
      expect(await cipherOf(server)).to.match(/^TLS/)
      await (await open({}, { server })).write([batchOf([1])])
    }
    expect(await cipherOf(database.connect({ tls: 'off' }))).to.equal('')
    for (const [options, text] of /** @type {[object, RegExp][]} */ ([
      [{ tls: 'verify' }, /certificate.*Set the CA certificate that signed the server's/],
      [{ tls: 'verify', ca, host: '127.0.0.2' }, /altnames.*Use a host name or address that is in the server's certificate/]
    ])) {
      const error = await failureOf(() => database.connect(options).test())
      expect(error.message).to.match(text)
    }
  })

  it('reports a server without TLS', async () => {
    const plain = await startMariadb({ options: ['--skip-ssl', '--lower-case-table-names=1'] })
    try {
      const login = { port: plain.port, user: plain.user, password: plain.password, database: plain.database }
      const error = await failureOf(() => connect({ ...login, tls: 'require' }).test())
      expect(error.message).to.match(/does not support secure connection.*certificate/)
      await keepsApart(login)
    } finally {
      await plain.remove()
    }
  })

  describe('behind a proxy that requests a file', () => {
    const FILE = '/etc/passwd'
    /** @type {import('node:net').Server} */
    let proxy
    /** @type {string} */
    let received

    /**
     * Passes everything on, except what is requested of the client.
     * @param {(toClient: Buffer) => Buffer} change
     * @param {(toServer: Buffer) => Buffer|null} [answer]  instead of the server's
     */
    const listen = async (change, answer = () => null) => {
      received = ''
      proxy = createServer(client => {
        const upstream = connectTo(database.server.port, '127.0.0.1')
        let hasAsked = false
        client.on('data', data => {
          received += data.toString('latin1')
          if (hasAsked) return client.destroy()
          const own = answer(data)
          hasAsked = own !== null
          if (own) client.write(own)
          else upstream.write(data)
        })
        upstream.on('data', data => client.write(change(data)))
        for (const [one, other] of [[client, upstream], [upstream, client]]) one.on('error', () => {}).on('close', () => other.destroy())
      })
      proxy.listen(0, '127.0.0.1')
      await once(proxy, 'listening')
      return /** @type {import('node:net').AddressInfo} */ (proxy.address()).port
    }

    afterEach(() => { proxy.close() })

    it('sends no file in answer to another statement', async () => {
      const request = Buffer.from(`\f\0\0\u0001\u00fb${FILE}`, 'latin1')
      const port = await listen(data => data, data => data.includes('@@local_infile') ? request : null)
      const error = await failureOf(() => database.connect({ port }).test())
      expect(error.code).to.equal('SLUICE_SINK_CONNECT')
      expect(received.slice(received.indexOf('@@sync_binlog'))).to.match(/^@@sync_binlog AS binaryLogSync\0\0\0.$/s)
    })

    it('sends neither the rows nor the file when another is requested', async () => {
      const port = await listen(data => Buffer.from(data.toString('latin1').replace('\u00fbsluice rows', `\u00fb${FILE}`), 'latin1'))
      const error = await failureOf(async () => (await openSink({ port })).write([batchOf([1.25])]))
      expect(error.message).to.include(FILE)
      expect(isTransient(error)).to.equal(true)
      expect(received).to.include('LOAD DATA').and.not.to.match(/root:|\t1\.25/)
    })
  })
})

/** @param {import('../../gateway/databases/mysql/connection.js').MysqlServer} server @returns {Promise<string>} */
async function cipherOf (server) {
  return server.use(async connection => {
    const [[{ Value: cipher }]] = /** @type {[any[], any]} */ (await connection.query('SHOW STATUS LIKE \'Ssl_cipher\''))
    return cipher
  })
}

/** Of a server that ignores the case of tables' names. @param {Record<string, unknown>} login */
async function keepsApart (login) {
  const server = connect(login)
  const sink = await open({}, { server })
  const batches = ['press', 'Press', 'PRESS'].map((source, i) =>
    batchOf([i], { source, identity: { gateway: 'gw', source, epoch: '1', seq: 0 } }))
  expect(await sink.write(batches)).to.deep.equal(ALL_NEW)
  const stored = await server.use(async connection => {
    const [rows] = await connection.query('SELECT * FROM (SELECT `force`, 1 AS place FROM `press` ' +
      'UNION ALL SELECT `force`, 2 FROM `press~10` UNION ALL SELECT `force`, 3 FROM `press~1f`) AS all_of_them ORDER BY place')
    return /** @type {any} */ (rows)
  })
  expect(stored.map((/** @type {any} */ row) => row.force)).to.deep.equal([0, 1, 2])
  await server.close()
}
