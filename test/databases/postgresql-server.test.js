import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { isTransient, open } from '../../gateway/databases/postgresql/sink.js'
import { connect } from '../../gateway/databases/postgresql/connection.js'
import { inTransaction, LOCKS } from '../../gateway/databases/postgresql/transaction.js'
import { startPostgresql } from '../servers/postgresql.js'
import { ALL_NEW, batchOf, failureOf, identity, rangesOf, rowOf } from './contract/batches.js'
import { withComment } from './contract/contract.js'
import { lostAnswersTest } from './contract/lost-answers.js'
import { restoreTest } from './contract/restore.js'
import { PostgresqlDatabase } from './postgresql-database.js'

describe('PostgreSQL server', () => {
  const database = PostgresqlDatabase.inSuite()
  const { openSink, query, rows } = database

  restoreTest({ openSink, isTransient, rows, database })

  it('does not take over commit records of version 0.1, and tells what to do', async () => {
    await query('CREATE TABLE sluice_commits (sink_table text, gateway text, source text, epoch text, seq bigint, last bigint)')
    const error = await failureOf(async () => (await openSink()).committed())
    expect(error.code).to.equal('SLUICE_SINK_RECORDS_OLD')
    expect(isTransient(error)).to.equal(true)
  })

  it('keeps two schemas apart on one connection', async () => {
    const server = connect({ ...database.login, connections: 2 })
    const sinks = await Promise.all(['public', 'plant'].map(schema => open({ schema }, { server })))
    for (let seq = 0; seq < 3; seq++) {
      for (const sink of sinks) expect(await sink.write([batchOf([seq], { identity: identity(seq) })])).to.deep.equal(ALL_NEW)
    }
    await server.close()
  })

  it('closes its connections, although a statement waits at the server', async () => {
    const connected = connect(database.login)
    const sink = await open({}, { server: connected })
    await sink.write([batchOf([1])])
    await query('BEGIN; LOCK TABLE press IN ACCESS EXCLUSIVE MODE')
    const waiting = failureOf(() => sink.write([batchOf([2])]))
    const waits = 'SELECT 1 FROM pg_locks WHERE relation = \'press\'::regclass AND NOT granted'
    while ((await query(waits)).rowCount === 0);
    await connected.close()
    expect((await waiting).message).to.match(/terminated/)
    expect((await failureOf(() => sink.write([batchOf([3])]))).message).to.match(/have been closed/)
    await query('COMMIT')
  })

  lostAnswersTest({
    port: () => database.server.port,
    connect: (port, silenceMs) => connect({ ...database.login, port, connections: 2 }, { silenceMs }),
    sleepTwoSeconds: 'SELECT pg_sleep(2)'
  })

  it('kept a transaction for hours for a gateway that had gone, which held up the same batch', async () => {
    const connected = connect(database.login)
    const settings = await connected.use(client => inTransaction(client, LOCKS.claiming, async () => {
      const { rows: found } = await client.query(`SELECT name, setting FROM pg_settings WHERE name IN ('lock_timeout',
        'idle_in_transaction_session_timeout', 'tcp_keepalives_idle', 'tcp_user_timeout')`)
      return Object.fromEntries(found.map(({ name, setting }) => [name, Number(setting)]))
    }))
    expect(settings).to.deep.equal({
      idle_in_transaction_session_timeout: 60_000, lock_timeout: 50_000, tcp_keepalives_idle: 20, tcp_user_timeout: 60_000
    })
    await connected.close()
  })

  it('reports what is wrong with the connection, and waits', async () => {
    /** @type {[object, RegExp][]} */
    const cases = [
      [{ password: 'wrong' }, /authentication failed.*Check user and password/],
      [{ password: '' }, /^PostgreSQL at 127\.0\.0\.1:\d+ asks for a password, and none is given\. Enter the password of the user "/],
      [{ database: 'nowhere' }, /"nowhere" does not exist.*Create the database/],
      [{ host: 'no-such-host.invalid' }, /no-such-host\.invalid.*Check the host name/],
      [{ port: 1 }, /127\.0\.0\.1:1.*Check host and port/],
      [{ tls: 'require' }, /does not support SSL/],
      [{ tls: 'verify', ca: '/no/such.pem' }, /no\/such\.pem/]
    ]
    for (const [options, text] of cases) {
      const sink = await openSink(options)
      const error = await failureOf(() => sink.prepare([batchOf([1])]))
      expect(error.message).to.match(text).and.not.to.include(database.server.password)
      expect(isTransient(error), error.message).to.equal(true)
    }
  })

  it('waits for a missing permission', async () => {
    await query('CREATE ROLE logger LOGIN PASSWORD \'secret\'')
    const logger = await openSink({ user: 'logger', password: 'secret' })
    const denied = await failureOf(() => logger.prepare([batchOf([1])]))
    expect(denied.message).to.match(/permission denied/)
    expect(isTransient(denied)).to.equal(true)
    await query('GRANT USAGE, CREATE ON SCHEMA public TO logger')
    await logger.write([batchOf([1])])
    expect(await rows('press')).to.have.length(1)
  })

  it('continues after the server has been stopped or killed', async () => {
    const sink = await openSink()
    let seq = 0
    for (const end of ['stop', 'kill']) {
      const batch = batchOf([seq], { identity: identity(seq++) })
      await sink.write([batch])
      await database.server[/** @type {'stop'|'kill'} */ (end)]()
      // A backend goes on until it has noticed that its postmaster is gone.
      while ((await sink.write([batch]).catch(() => null)) !== null);
      expect(isTransient(await failureOf(() => sink.write([batch])))).to.equal(true)
      expect(isTransient(await failureOf(() => sink.committed()))).to.equal(true)
      await database.server.start()
      expect((await sink.write([batch])).duplicates).to.deep.equal([batch])
      await database.reconnect()
    }
    expect(await rows('press')).to.have.length(2)
    expect(rangesOf(await sink.committed())[0].ranges).to.deep.equal([[0, 1]])
  })

  it('ends a write that is aborted while it waits', async () => {
    const sink = await openSink()
    const batch = batchOf([1], { identity: identity(0) })
    await sink.prepare([batch])
    await query('BEGIN; LOCK TABLE press IN EXCLUSIVE MODE')
    const abort = new AbortController()
    const write = failureOf(() => sink.write([batch], { signal: abort.signal }))
    await new Promise(resolve => setTimeout(resolve, 50))
    abort.abort(new Error('closing'))
    expect((await write).message).to.equal('closing')
    await query('COMMIT')
    const { duplicates } = await sink.write([batch])
    expect(await rows('press'), 'stored by one of the two attempts').to.have.length(1)
    expect(duplicates.length).to.be.oneOf([0, 1])
  })

  it('waits while the disk is full, and continues when there is room', async function () {
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
      await query(`CREATE TABLESPACE small LOCATION '${disk}'`)
      await query(withComment('CREATE TABLE press (force double precision, note text) TABLESPACE small'))
      await query('CREATE TABLE filler (bytes bytea) TABLESPACE small')
      for (let full = false; !full;) {
        await query(
          'INSERT INTO filler SELECT decode(repeat(\'00\', 1900), \'hex\') FROM generate_series(1, 50)'
        ).catch(() => { full = true })
      }
      const sink = await openSink()
      const batch = rowOf({ force: ['float64', 1], note: ['string', 'x'.repeat(20_000) + Math.random()] }, { identity: identity(0) })
      const many = Array.from({ length: 100 }, (_, seq) => batchOf(Array(500).fill(seq), { identity: identity(seq + 1) }))
      await sink.prepare([batch, ...many])
      const error = await failureOf(() => sink.write([batch, ...many]))
      expect(error.message).to.match(/No space left on device/)
      expect(isTransient(error)).to.equal(true)
      await query('DROP TABLE filler')
      await query('CHECKPOINT')
      expect(await sink.write([batch])).to.deep.equal(ALL_NEW)
      await query('DROP TABLE press')
      await query('DROP TABLESPACE small')
    } finally {
      execFileSync('umount', ['-l', disk])
      await rm(disk, { recursive: true, force: true })
    }
  })

  it('encrypts, and verifies the server', async () => {
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
