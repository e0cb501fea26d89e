import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect } from 'chai'
// @ts-expect-error: it brings no types
import helper from 'node-red-node-test-helper'
import { serversOf } from '../../gateway/bench/servers.js'
import { isStudy, STUDIES } from '../../gateway/bench/studies/index.js'
import reportNode from '../../nodes/bench/report.js'
import runNode from '../../nodes/bench/run.js'
import { schema } from '../../nodes/bench/run.schema.js'
import { serverEnvironment } from '../../nodes/bench/server-urls.js'
import postgresqlServer from '../../nodes/sinks/postgresql-server.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'

/** A second or less. */
const TINY = { study: 'haenisch', databases: 'sqlite', batchSizes: '100', writers: '1', seconds: 0.2 }

describe('Bench nodes', function () {
  this.timeout(120_000)
  /** @type {string} */
  let userDir
  /** What the nodes get of Node-RED. @type {any} */
  let red

  before(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
    helper.init(createRequire(import.meta.url).resolve('node-red'), { userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  afterEach(() => helper.unload())
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })

  /** Two of bench run, wired alike. @param {object} options @param {object} [report] */
  async function load (options, report) {
    const run = { type: 'sluice-bench-run', ...TINY, ...options, wires: [['result'], ['progress']] }
    await helper.load([(/** @type {any} */ RED) => { red = RED }, runNode, reportNode], [
      { ...run, id: 'run' },
      { ...run, id: 'other', name: 'the other' },
      { id: 'report', type: 'sluice-bench-report', ...report, wires: [['link']] },
      ...['result', 'progress', 'link'].map(id => ({ id, type: 'helper' }))
    ])
  }
  const node = (/** @type {string} */ id) => helper.getNode(id)
  const input = async (/** @type {string} */ id) => (await once(node(id), 'input'))[0]
  const failure = async (/** @type {string} */ id) => String((await once(node(id), 'call:error'))[0].args[0])

  /** The last status that matches. @param {string} id @param {RegExp} pattern */
  async function status (id, pattern) {
    while (true) {
      const [call] = await once(node(id), 'call:status')
      if (pattern.test(call.args[0].text)) return call.args[0]
    }
  }

  it('measure a study in a process of its own, tell how far it is, and send its result', async () => {
    await load({ seconds: 3 })
    const [progress, result] = [input('progress'), input('result')]
    node('run').receive({ topic: 'mine' })
    const text = '1 of 1, 4 s left: sqlite, 100 a batch'
    expect(await status('run', /left/)).to.deep.equal({ fill: 'blue', shape: 'dot', text })
    expect((await progress).payload).to.include({ study: 'haenisch', cell: 1, cells: 1, label: 'sqlite, 100 a batch, 1 writer' })
    const { topic, payload, folder, page } = await result
    expect(topic).to.equal('mine')
    expect(payload).to.deep.equal(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')))
    expect(payload.options).to.deep.equal({
      isFull: false, sweep: { databases: ['sqlite'], batchSizes: [100], writers: [1], seconds: 3 }
    })
    expect(payload.cells[0].measures.rows).to.be.above(0)
    expect(folder.startsWith(join(userDir, 'sluice', 'bench-reports', 'haenisch-'))).to.equal(true)
    expect(existsSync(page)).to.equal(true)
  })

  it('take options of a message instead of their own', async () => {
    await load({})
    const result = input('result')
    node('run').receive({ payload: { databases: ['file'], batchSizes: [10, 1000] } })
    const { payload } = await result
    expect(payload.cells.map((/** @type {any} */ { id }) => id)).to.deep.equal(['file-10-1', 'file-1000-1'])
    const failed = failure('run')
    node('run').receive({ payload: { size: 'huge' } })
    expect(await failed).to.match(/^SLUICE_OPTIONS: Size must be one of quick, full/)
  })

  it('say what the bench refuses, in its own words', async () => {
    await load({ databases: 'nul' })
    const failed = failure('run')
    node('run').receive({})
    expect(await failed).to.match(/SLUICE_BENCH_UNKNOWN: There is no database "nul"\. Choose from sqlite/)
  })

  it('stop at the second press of the button, keep what has been measured, and go on there', async () => {
    await load({ databases: 'null,sqlite', seconds: 3 })
    const press = () => helper.request().post('/sluice-bench/run/press').send({}).expect(200)
    const stopped = input('result')
    expect((await press()).body).to.deep.equal({ state: 'started' })
    while ((await input('progress')).payload.cell !== 2);
    expect((await press()).body).to.deep.equal({ state: 'stopping' })
    const { payload, folder } = await stopped
    expect(payload).to.include({ isComplete: false })
    expect(payload.cells.map((/** @type {any} */ { state }) => state)).to.deep.equal(['done'])

    const result = input('result')
    await press()
    expect((await input('progress')).payload.cell, 'none again').to.equal(2)
    const whole = await result
    expect(whole.folder).to.equal(folder)
    expect(whole.payload).to.include({ isComplete: true })
    expect(whole.payload.cells[0]).to.deep.equal(payload.cells[0])
  })

  it('stop for a message, and say so', async () => {
    await load({ seconds: 3600, resume: false })
    const result = input('result')
    node('run').receive({})
    await input('progress')
    const shown = status('run', /^stopped/)
    node('run').receive({ stop: true })
    expect((await result).payload).to.include({ isComplete: false })
    expect(await shown).to.deep.equal({ fill: 'yellow', shape: 'dot', text: 'stopped, 0 measured' })
  })

  it('never measure two at once', async () => {
    await load({ seconds: 3600, resume: false })
    const result = input('result')
    node('other').receive({})
    await input('progress')
    const failed = failure('run')
    node('run').receive({})
    expect(await failed).to.match(/^SLUICE_BENCH_BUSY: A study is being measured by the other\./)
    node('other').receive({ stop: true })
    await result
  })

  it('end what runs when they are closed, and can go on once they are deployed again', async () => {
    await load({ seconds: 3600, rows: 100_000_000 })
    node('run').receive({})
    await input('progress')
    await helper.unload()
    await load({ seconds: 3600, rows: 100_000_000 })
    node('run').receive({})
    expect((await input('progress')).payload.cell, 'what ran before has ended').to.equal(1)
  })

  it('serve the report to whom Node-RED lets in, and nothing else', async () => {
    await load({})
    const [result, link] = [input('result'), input('link')]
    node('run').receive({})
    const message = await result
    node('report').receive(message)
    const { payload, page } = await link
    expect(payload).to.equal(`/sluice/reports/${basename(message.folder)}/report.html`)
    expect(page).to.equal(message.page)

    const server = createServer(red.httpNode).listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      const get = (/** @type {string} */ path, headers = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers })
      const answer = await get(payload)
      expect(await answer.text()).to.equal(await readFile(page, 'utf8'))
      expect(answer.headers.get('content-security-policy')).to.match(/^default-src 'none'.*frame-ancestors 'self'/)
      expect((await get(payload.replace('report.html', 'result.json'))).headers.get('content-type')).to.equal('application/json')
      for (const other of ['run.json', 'cells.jsonl', '%2e%2e/%2e%2e/flows.json', '..%2fresult.json', '..%5cresult.json', '%', '']) {
        expect((await get(payload.replace('report.html', other))).status, other).to.equal(404)
      }
      expect((await get(payload, { Origin: 'http://elsewhere.example' })).status).to.equal(403)
      const named = input('link')
      const own = join(userDir, 'my run (1)')
      await cp(message.folder, own, { recursive: true })
      node('report').receive({ folder: own })
      expect((await get((await named).payload)).status, 'whatever a folder is called').to.equal(200)
    } finally {
      server.close()
      server.closeAllConnections()
    }

    const { body } = await helper.request().post('/sluice-bench/report/reports').send({}).expect(200)
    expect(body.reports[1]).to.deep.equal({ name: basename(message.folder), link: payload })
    await helper.request().post('/sluice-bench/run/reports').send({}).expect(404)
  })

  it('compare a report with the one before, and runs that are named', async () => {
    await load({}, { compare: true })
    const folders = []
    for (let i = 0; i < 2; i++) {
      const result = input('result')
      node('run').receive({})
      folders.push((await result).folder)
    }
    const link = input('link')
    node('report').receive({ folder: folders[1] })
    expect((await link).comparison).to.match(/^\/sluice\/reports\/haenisch-compared-.*\/report\.html$/)
    const compared = input('link')
    node('report').receive({ payload: folders.map(folder => basename(folder)) })
    expect(await readFile((await compared).page, 'utf8')).to.contain('A and B compared')
  })

  it('report a result that comes as an object, and refuse what is none', async () => {
    await load({})
    const result = input('result')
    node('run').receive({})
    const { payload } = await result
    const link = input('link')
    node('report').receive({ payload: { ...payload, startedMs: 5 } })
    expect((await link).payload).to.equal('/sluice/reports/haenisch-5/report.html')
    const failed = failure('report')
    node('report').receive({ payload: 7 })
    expect(await failed).to.match(/^SLUICE_BENCH_REPORT: The message has no result of a study\./)
  })

  it('know all studies', () => {
    const { enum: known = [] } = schema.properties.study
    expect(known).to.include.members([...Object.keys(STUDIES), 'studies'])
    expect(isStudy('studies')).to.equal(true)
  })

  it('measure the server that a node holds, and leave it empty', async function () {
    requirePostgresql(this)
    const server = await startPostgresql()
    const { user, password, database, port } = server
    try {
      await helper.load([postgresqlServer, runNode], [
        { id: 'server', type: 'sluice-postgresql-server', host: '127.0.0.1', port, database },
        { id: 'run', type: 'sluice-bench-run', ...TINY, databases: 'postgresql', postgresqlServer: 'server', wires: [['result'], []] },
        { id: 'result', type: 'helper' }
      ], { server: { user, password } })
      for (let i = 0; i < 2; i++) { // the second finds it empty
        const result = input('result')
        node('run').receive({})
        const { payload: { cells: [cell] } } = await result
        expect(cell).to.include({ state: 'done' })
        expect(cell.version).to.match(/^PostgreSQL/)
      }
    } finally {
      await helper.unload()
      await server.remove()
    }
  })

  describe('with servers', () => {
    const environmentOf = (/** @type {any} */ options, type = 'postgresql') => serverEnvironment(
      { nodes: { getNode: () => ({ options }) } }, { [`${type}Server`]: 'server' }
    )
    const postgresql = { host: '127.0.0.1', port: 5432, database: 'be/nch', user: 'me@home', password: 'p:a/ss word', tls: 'off' }

    it('name them as the command line does, whatever is in a password', async () => {
      for (const [type, options] of /** @type {[string, any][]} */ ([
        ['postgresql', postgresql],
        ['clickhouse', { ...postgresql, port: 8123 }],
        ['influxdb', { ...postgresql, port: 8086, version: '1' }],
        ['mongodb', { ...postgresql, host: undefined, port: undefined, url: 'mongodb://127.0.0.1:27017', tls: 'auto' }]
      ])) {
        const server = await serversOf({}, environmentOf(options, type), {})(type).start({ folder: '' })
        expect(server, type).to.include({ host: '127.0.0.1', user: 'me@home', password: 'p:a/ss word', database: 'be/nch' })
        if (options.port) expect(server.port).to.equal(options.port)
      }
      expect(serverEnvironment({}, {})).to.deep.equal({})
    })

    it('refuse what the bench cannot reach', () => {
      for (const [other, reason] of /** @type {[object, RegExp][]} */ ([
        [{ tls: 'verify' }, /by TLS/], [{ host: '/run/postgresql' }, /a Unix socket/], [{ version: '2' }, /version 2/]
      ])) {
        expect(() => environmentOf({ ...postgresql, ...other })).to.throw(reason).with.property('code', 'SLUICE_BENCH_SERVER')
      }
      expect(() => environmentOf({ ...postgresql, url: 'mongodb+srv://plant' }, 'mongodb')).to.throw(/is a cluster/)
      expect(() => environmentOf(undefined)).to.throw(/is missing or not set up/)
    })
  })
})
