import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import pg from 'pg'
import { stats } from '../../gateway/stats/stats.js'
import postgresql from '../../nodes/sinks/postgresql.js'
import server from '../../nodes/sinks/postgresql-server.js'
import { until } from '../broker/waiting.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('a sink that prepares tables', () => {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let database
  /** @type {pg.Client} */
  let other
  /** @type {string} */
  let userDir
  before(async function () {
    requirePostgresql(this)
    this.timeout(60_000)
    database = await startPostgresql()
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-preparing-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    if (!database) return
    await other.end()
    await helper.unload()
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await database.remove()
    await rm(userDir, { recursive: true })
  })

  it('says how far it is while one takes long', async function () {
    this.timeout(60_000)
    const host = '127.0.0.1'
    const { port, user, password, database: name } = database
    other = new pg.Client({ host, port, user, password, database: name })
    await other.connect()
    await other.query('BEGIN; CREATE TABLE "press 1" (time timestamptz)')
    await helper.load([server, postgresql], [
      { id: 'server', type: 'sluice-postgresql-server', host, port, database: name },
      { id: 'sink', type: 'sluice-postgresql', name: 'store', server: 'server', maxAgeMs: 20, wires: [] }
    ], { server: { user, password } })
    /** @type {string[]} */
    const texts = []
    await until(() => helper.getNode('sink') !== null)
    helper.getNode('sink').on('call:status', (/** @type {any} */ { args: [{ text }] }) => texts.push(text))
    const gauge = () => /** @type {any} */ (stats.readGauges()['sink store'])
    for (let i = 0; i < 3; i++) helper.getNode('sink').receive({ topic: `press ${i}`, payload: i })

    await until(() => texts.some(text => /^preparing tables: 1 of 3/.test(text)))
    expect(gauge()).to.include({ lastError: null, connected: true })
    await other.query('ROLLBACK')
    await until(() => gauge()?.pendingRows === 0)
    const { rows } = await other.query([0, 1, 2].map(i => `SELECT * FROM "press ${i}"`).join(' UNION ALL '))
    expect(rows).to.have.length(3)
  })
})
