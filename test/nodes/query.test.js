import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { readerTypes } from '../../gateway/databases/index.js'
import { open as openPostgresql } from '../../gateway/databases/postgresql/sink.js'
import { connect } from '../../gateway/databases/postgresql/connection.js'
import { open as openDuckdb } from '../../gateway/databases/duckdb/sink.js'
import { open as openSqlite } from '../../gateway/databases/sqlite/sink.js'
import queryNode from '../../nodes/queries/query.js'
import { schema } from '../../nodes/queries/query.schema.js'
import postgresqlServer from '../../nodes/sinks/postgresql-server.js'
import { until } from '../broker/waiting.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { batchOf, T0 } from '../databases/contract/batches.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

const ROWS = 25
const batch = batchOf(Array.from({ length: ROWS }, (_, i) => i))

describe('query node', () => {
  /** @type {string} */
  let userDir
  /** @type {any[]} */
  let answers

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
    const sink = await openSqlite({ file: path.join(userDir, 'sluice', 'store.sqlite') })
    await sink.write([batch])
    await sink.close()
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(() => helper.unload())

  /** A running node. @param {object} [options] @param {{nodes?: any[], modules?: any[], credentials?: object}} [more] */
  async function load (options, { nodes = [], modules = [], credentials = {} } = {}) {
    const config = {
      id: 'query',
      type: 'sluice-query',
      file: 'store.sqlite',
      table: 'press',
      sensors: 'force',
      from: String(T0 / 1_000_000n),
      to: '2023-11-15T00:00:00Z',
      pageRows: 10,
      ...options,
      wires: [['out']]
    }
    await helper.load([queryNode, ...modules], [config, { id: 'out', type: 'helper' }, ...nodes], credentials)
    answers = []
    helper.getNode('out').on('input', (/** @type {any} */ message) => answers.push(message))
    return helper.getNode('query')
  }

  /** @param {any} node @param {object} message  answers until the last page, or an error's text */
  async function ask (node, message) {
    answers.length = 0
    const errors = node.error.callCount
    node.receive(message)
    await until(() => answers.at(-1)?.complete === true || node.error.callCount > errors)
    if (node.error.callCount > errors) return String(node.error.lastCall.args[0])
    return answers
  }

  const values = (/** @type {any} */ pages) =>
    pages.flatMap((/** @type {any} */ { payload }) => payload.map((/** @type {any} */ { value }) => value))

  it('answers a message in pages, as its form says', async () => {
    const node = await load()
    const pages = /** @type {any[]} */ (await ask(node, { topic: 'why', payload: 7, complete: true, parts: { id: 'outer', index: 3 } }))
    expect(pages.map(({ payload }) => payload.length)).to.deep.equal([10, 10, 5])
    expect(pages[0].payload[0]).to.deep.equal({ time: '2023-11-14T22:13:20.123456789Z', sensor: 'force', value: 0 })
    expect(values(pages)).to.deep.equal([...Array(ROWS).keys()])
    expect(pages.map(({ topic, complete, cut }) => ({ topic, complete, cut }))).to.deep.equal([
      { topic: 'why', complete: undefined, cut: undefined },
      { topic: 'why', complete: undefined, cut: undefined },
      { topic: 'why', complete: true, cut: false }
    ])
    const { id } = pages[0].parts
    const outer = { id: 'outer', index: 3 }
    expect(pages.map(({ parts }) => parts)).to.deep.equal([
      { id, type: 'array', len: 10, index: 0, parts: outer },
      { id, type: 'array', len: 10, index: 1, parts: outer },
      { id, type: 'array', len: 10, index: 2, count: 3, parts: outer }
    ])
  })

  it('is joined to one array by Node-RED\'s own node', async () => {
    // @ts-expect-error it has no types
    const { default: join } = await import('@node-red/nodes/core/sequence/17-split.js')
    await helper.load(
      [queryNode, join],
      [
        {
          id: 'query',
          type: 'sluice-query',
          file: 'store.sqlite',
          table: 'press',
          sensors: 'force',
          from: String(T0 / 1_000_000n),
          to: '2023-11-15T00:00:00Z',
          pageRows: 10,
          wires: [['joiner']]
        },
        { id: 'joiner', type: 'join', mode: 'auto', wires: [['out']] },
        { id: 'out', type: 'helper' }
      ]
    )
    const joined = new Promise(resolve => helper.getNode('out').once('input', resolve))
    helper.getNode('query').receive({})
    expect(values([await joined])).to.deep.equal([...Array(ROWS).keys()])
  })

  it('answers what the message asks instead', async () => {
    const node = await load()
    const query = { name: 'deviation', perSensor: true, from: T0, to: T0 + 3n, times: 'bigint' }
    const [{ payload, parts }] = await ask(node, { query })
    expect(payload).to.deep.equal([{ time: T0, sensor: 'force', count: 3, stddev: 1 }])
    expect(parts).to.include({ index: 0, count: 1 })
    expect((await ask(node, { query: { ...query, from: T0 + 100n, to: T0 + 200n } }))).to.have.length(1)
    expect(answers[0].payload).to.deep.equal([])
  })

  it('cuts at its limit, and says so', async () => {
    const node = await load({ limit: 12 })
    const pages = /** @type {any[]} */ (await ask(node, {}))
    expect(pages.map(({ payload, cut }) => [payload.length, cut])).to.deep.equal([[10, undefined], [2, true]])
    expect(node.warn.lastCall.args[0]).to.match(/"raw" ended at its limit of 12 rows/)
    await until(() =>
      node.status
        .getCalls()
        .some((/** @type {any} */ { args: [{ text, fill }] }) => fill === 'yellow' && /^12 rows in .*more left out$/.test(text))
    )
  })

  it('reads a DuckDB file', async () => {
    const sink = await openDuckdb({ file: path.join(userDir, 'sluice', 'store.duckdb') })
    await sink.write([batch])
    await sink.close()
    expect(values(await ask(await load({ database: 'duckdb', duckdbFile: 'store.duckdb' }), {}))).to.deep.equal([...Array(ROWS).keys()])
    await helper.unload()
    expect(await ask(await load({ database: 'duckdb' }), {})).to.match(/SLUICE_QUERY_DUCKDB: .*sluice\.duckdb" does not exist/)
  })

  it('exports to Parquet files by day, and sends what it has written', async () => {
    const node = await load({ output: 'parquet', sensors: '', folder: 'out/{table}' })
    const [{ topic, payload, complete }, ...more] = await ask(node, { topic: 'why' })
    const folder = path.join(userDir, 'sluice', 'out', 'press')
    const file = path.join(folder, '2023-11-14.parquet')
    const { size: bytes } = await stat(file)
    expect({ topic, payload, complete, more }).to.deep.equal({
      topic: 'why', payload: { folder, rows: ROWS, bytes, files: [{ file, rows: ROWS, bytes }] }, complete: true, more: []
    })
    const shown = () => node.status.getCalls().map((/** @type {any} */ { args: [{ text }] }) => text).join()
    await until(() => /25 rows, .*B in 1 file, in /.test(shown()))
    const [{ payload: hourly }] = await ask(node, { query: { name: 'mean', sensors: ['force'] } })
    expect(hourly.rows).to.equal(1)
  })

  it('tells catch nodes what is wrong, and answers the next message', async () => {
    const node = await load()
    expect(await ask(node, { query: 'SELECT 1' })).to.match(/SLUICE_QUERY_MESSAGE: msg\.query is a string/)
    expect(await ask(node, { query: { name: 'mean', bucketHours: -1 } })).to.match(
      /SLUICE_QUERY_PARAMETERS: .*Bucket must be more than 0.*msg\.query/
    )
    expect(await ask(node, { query: { limit: 'all' } })).to.match(/SLUICE_QUERY_PARAMETERS: .*Limit.*"all" is not a number/)
    expect(values(await ask(node, {}))).to.have.length(ROWS)
  })

  it('says which table, file or server is missing', async () => {
    expect(await ask(await load({ table: 'oven' }), {})).to.match(/SLUICE_QUERY_TABLE: The table "oven" does not exist/)
    await helper.unload()
    expect(await ask(await load({ file: 'nothing.sqlite' }), {})).to.match(
      /SLUICE_QUERY_SQLITE: The SQLite file ".*sluice.nothing\.sqlite" does not exist/
    )
    expect(existsSync(path.join(userDir, 'sluice', 'nothing.sqlite'))).to.equal(false)
    await helper.unload()
    expect(await ask(await load({ database: 'postgresql' }), {})).to.match(/SLUICE_SERVER_MISSING.*Choose a server/)
  })

  it('answers one message at a time, in their order, and refuses too many', async () => {
    const node = await load({ limit: 1 })
    for (let i = 0; i < 101; i++) node.receive({ topic: i })
    await until(() => node.error.callCount === 1)
    expect(node.error.firstCall.args[0]).to.match(/SLUICE_QUERY_FULL: 100 queries wait/)
    await until(() => answers.length === 100)
    expect(answers.map(({ topic }) => topic)).to.deep.equal([...Array(100).keys()])
  })

  it('repeats a query, each time with how long it took', async () => {
    const node = await load({ pageRows: 10 })
    const count = 3
    answers.length = 0
    node.receive({ query: { repetitions: count } })
    await until(() => answers.filter(({ complete }) => complete).length === count)
    expect(answers.map(({ repetition }) => repetition)).to.deep.equal([0, 0, 0, 1, 1, 1, 2, 2, 2])
    expect(new Set(answers.map(({ parts }) => parts.id)).size).to.equal(count)
    for (const { complete, durationMs, cache } of answers) {
      expect(cache).to.equal(complete ? 'warm' : undefined)
      if (complete) expect(durationMs).to.be.above(0)
    }
  })

  it('says warm, and why, where caches cannot be emptied', async () => {
    const duckdbFile = path.join(userDir, 'sluice', 'held.duckdb')
    const sink = await openDuckdb({ file: duckdbFile })
    await sink.prepare([batch])
    await sink.write([batch])
    const node = await load({ database: 'duckdb', duckdbFile: 'held.duckdb', cache: 'cold' })
    const [page] = /** @type {any[]} */ (await ask(node, { query: { name: 'deviation' } }))
    await sink.close()
    expect(page.payload[0].count).to.equal(ROWS)
    expect(page).to.include({ cache: 'warm' })
    expect(page.cacheReason).to.match(/DuckDB keeps its cache/)
  })

  it('answers so many messages side by side as it is told, and no more', async () => {
    const node = await load({ parallel: 2 })
    for (let i = 0; i < 102; i++) node.receive({ topic: i, query: { name: 'deviation' } })
    await until(() => node.error.callCount === 1)
    expect(node.error.firstCall.args[0]).to.match(/SLUICE_QUERY_FULL/)
    await until(() => answers.length === 101)
    expect(answers.map(({ topic }) => topic).sort((a, b) => a - b)).to.deep.equal([...Array(101).keys()])
  })

  it('ends the running query and those that wait when it is closed', async () => {
    const node = await load()
    /** @type {string[]} */
    const errors = []
    // As the helper no longer watches a node that it unloads.
    node._complete = (/** @type {any} */ _message, /** @type {unknown} */ error) => errors.push(String(error))
    const ended = new Promise(resolve => helper.getNode('out').once('input', () => resolve(helper.unload())))
    node.receive({})
    node.receive({})
    await ended
    expect(answers).to.have.length(1)
    expect(errors.map(text => text.slice(0, 19))).to.deep.equal(['SLUICE_QUERY_CLOSED', 'SLUICE_QUERY_CLOSED'])
  })

  it('has in its form what any reader can be told', async () => {
    const present = Object.entries(readerTypes).filter(([type]) =>
      existsSync(fileURLToPath(new URL(`../../gateway/databases/${type}/reader.js`, import.meta.url)))
    )
    expect(present.length).to.be.at.least(2)
    for (const [type, load_] of present) {
      expect(Object.keys(schema.properties), type).to.include.members(Object.keys(/** @type {any} */ ((await load_()).schema).properties))
    }
  })

  it('reads from a server that it shares, and gives it back', async function () {
    requirePostgresql(this)
    const server = await startPostgresql()
    try {
      const login = { host: '127.0.0.1', port: server.port, database: server.database }
      const secrets = { user: server.user, password: server.password }
      const connected = connect({ ...login, ...secrets })
      await (await openPostgresql({}, { server: connected })).write([batch])
      await connected.close()
      const node = await load({ database: 'postgresql', postgresqlServer: 'server' }, {
        modules: [postgresqlServer], nodes: [{ id: 'server', type: 'sluice-postgresql-server', ...login }], credentials: { server: secrets }
      })
      for (let i = 0; i < 6; i++) expect(values(await ask(node, {}))).to.deep.equal([...Array(ROWS).keys()])
      await helper.unload() // which waits for the server's connections to be given back
    } finally {
      await server.remove()
    }
  })
})
