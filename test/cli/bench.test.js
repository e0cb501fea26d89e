import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import pg from 'pg'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { sluice } from './process.js'

const SLUICE = fileURLToPath(new URL('../../gateway/cli/sluice.js', import.meta.url))

describe('sluice bench', () => {
  it('refuses a URL that it cannot use, and shows nothing of it', async () => {
    for (const url of ['mysql://me:secret@host/plant', 'secret', 'postgres://me:secret@host:5432']) {
      const { code, stdout, stderr } = await sluice('bench', '--postgresql', url).exit
      expect({ code, stdout }, url).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.match(/^sluice bench: --postgresql must /)
      expect(stderr).to.not.contain('secret')
    }
  })

  it('does not measure what needs a server that is not named', async () => {
    const { code, stdout } = await sluice('bench', 'postgresql', 'outage', '--json').exit
    expect(code).to.equal(0)
    const { postgresql, outage } = JSON.parse(stdout)
    expect(postgresql).to.deep.equal({ missing: 'no server; name one with --postgresql URL' })
    expect(outage).to.deep.equal({ missing: 'no server; name one with --mqtt URL' })
  })

  it('ends a study, with what it has measured, when the program that has started it closes its channel', async function () {
    this.timeout(120_000)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    const args = ['bench', 'haenisch', '--databases', 'sqlite', '--batch-sizes', '100', '--writers', '1,2', '--seconds', '3600']
    const child = spawn(process.execPath, [SLUICE, ...args, '--folder', folder, '--json'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    const exited = once(child, 'exit')
    /** @type {any[]} */
    const events = []
    for await (const line of createInterface({ input: /** @type {any} */ (child).stdout })) {
      events.push(JSON.parse(line))
      if (child.connected && events.at(-1).event === 'progress') child.disconnect()
    }
    expect(await exited).to.deep.equal([0, null])
    expect(events.map(({ event }) => event)).to.deep.equal(['study', 'progress', 'report'])
    expect(events[2]).to.include({ study: 'haenisch', isComplete: false })
    expect(JSON.parse(await readFile(join(events[2].folder, 'result.json'), 'utf8')).cells).to.deep.equal([])
    await rm(folder, { recursive: true })
  })

  describe('on a PostgreSQL of the user', function () {
    this.timeout(300_000)

    /** @type {import('../servers/postgresql.js').PostgresqlServer} */
    let server
    /** @type {pg.Client} */
    let client

    before(async function () {
      requirePostgresql(this)
      server = await startPostgresql()
      const { port, user, password, database } = server
      client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
      await client.connect()
    })

    after(async () => {
      await client?.end()
      await server?.remove()
    })

    /** @returns {Promise<any>} */
    async function measure () {
      const { port, user, password, database } = server
      const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
      const options = ['--quick', '--json', '--rows', '2000', '--only', 'postgresql']
      const { code, stdout, stderr } = await sluice('bench', 'sinks', ...options, '--postgresql', url).exit
      expect(code, stderr).to.equal(0)
      expect(stdout + stderr).to.not.contain(password)
      return JSON.parse(stdout).sinks[0]
    }

    async function tables () {
      const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = \'public\'')
      return rows.map(({ tablename }) => tablename)
    }

    it('measures the sink there, and leaves nothing behind', async () => {
      const { missing, ours, naive } = await measure()
      expect(missing).to.equal(undefined)
      expect(ours.rowsPerSecond).to.be.above(0)
      expect(naive.rowsPerSecond).to.be.above(0)
      expect(await tables()).to.deep.equal([])
    })

    it('refuses a database that is not empty, and leaves it as it is', async () => {
      await client.query('CREATE TABLE mine (id int)')
      expect((await measure()).missing).to.match(/^SLUICE_BENCH_NOT_EMPTY: The database "postgres" is not empty: it has "mine"\./)
      expect(await tables()).to.deep.equal(['mine'])
    })
  })
})
