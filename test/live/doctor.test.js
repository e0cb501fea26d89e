import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { mountLive, unmountLive } from '../../gateway/live/live.js'
import { loadNodeRed } from '../../gateway/run/node-red.js'
import { Login } from '../../gateway/web/login.js'
import { makeUser } from '../../gateway/web/users.js'
import { Stats } from '../../gateway/stats/stats.js'
import { schemaOf } from '../../nodes/schemas.js'

const { express } = loadNodeRed()

describe('Doctor page', () => {
  /** @type {string} */
  let folder
  /** @type {import('node:http').Server} */
  let server
  /** @type {string} */
  let root

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-doctor-page-'))
    await writeFile(join(folder, 'flows.json'), JSON.stringify([
      { id: 'tab', type: 'tab' }, { id: 'out', type: 'sluice-stage-out', z: 'tab', broker: 'gone', wires: [] }
    ]))
    const app = express()
    server = createServer(app)
    const password = 'a good password'
    const users = new Map()
    for (const [name, role] of /** @type {const} */ ([['ada', 'change'], ['wall', 'view']])) {
      users.set(name, await makeUser({ name, role, password }))
    }
    app.use(new Login(users).middleware)
    const RED = {
      server,
      httpNode: express.Router(),
      settings: { userDir: folder, flowFile: 'flows.json' },
      nodes: { getCredentials: () => undefined },
      events: new EventEmitter(),
      version: () => '5.0.7'
    }
    app.use('/', RED.httpNode)
    mountLive(RED, new Stats(), () => folder, schemaOf)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    root = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/sluice/`
  })

  afterEach(async () => {
    await unmountLive(server)
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })

  /** @param {string} path @param {string} [user] @param {object} [more] */
  const ask = (path, user = 'ada', more = {}) => fetch(root + path, {
    ...more, headers: { authorization: `Basic ${btoa(`${user}:a good password`)}`, 'content-type': 'application/json' }
  })
  const post = (/** @type {string} */ path, user = 'ada') => ask(path, user, { method: 'POST', body: '{}' })

  it('is served below the live page, with every file it loads', async () => {
    expect((await ask('doctor')).url).to.match(/\/sluice\/doctor\/$/)
    const html = await (await ask('doctor/')).text()
    expect(html).to.contain('<title>Sluice, doctor</title>')
    for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await ask(new URL(path, `${root}doctor/`).href.slice(root.length))).status, path).to.equal(200)
    }
  })

  it('tells each check as it is done, and the report at the end, which is kept', async () => {
    expect(await (await ask('doctor/findings')).json()).to.deep.equal({ report: null })
    const lines = (await (await post('doctor/findings')).text()).trim().split('\n').map(line => JSON.parse(line))
    const [{ checks }] = lines
    expect(lines.slice(1, -1).map(({ check }) => check)).to.have.members(checks.map((/** @type {{check: string}} */ { check }) => check))
    const { report } = /** @type {any} */ (lines.at(-1))
    expect(report.findings[0]).to.include({ check: 'flow', level: 'problem', where: 'stage out out' })
    expect(report.gateway).to.include({ state: 'running', process: process.pid })
    expect(await (await ask('doctor/findings')).json()).to.deep.equal({ report })
  })

  it('checks once for all that ask meanwhile', async () => {
    const asked = [post('doctor/findings'), post('doctor/findings')].map(async answer => (await (await answer).text()).trim().split('\n'))
    const [one, other] = await Promise.all(asked)
    expect(one.at(-1)).to.equal(other.at(-1))
  })

  it('hands out the bundle', async () => {
    const answer = await post('doctor/bundle')
    expect(answer.headers.get('content-type')).to.equal('application/gzip')
    expect(String(gunzipSync(Buffer.from(await answer.arrayBuffer())))).to.contain('doctor.json')
  })

  it('is for those who may change things; others see what was found last', async () => {
    expect((await fetch(`${root}doctor/findings`, { method: 'POST' })).status).to.equal(401)
    expect((await post('doctor/findings', 'wall')).status).to.equal(403)
    expect((await post('doctor/bundle', 'wall')).status).to.equal(403)
    expect((await ask('doctor/findings', 'wall')).status).to.equal(200)
  })

  it('does nothing for a form of another page', async () => {
    const headers = { authorization: `Basic ${btoa('ada:a good password')}`, 'content-type': 'text/plain' }
    expect((await fetch(`${root}doctor/findings`, { method: 'POST', body: '{}', headers })).status).to.be.oneOf([403, 415])
  })
})
