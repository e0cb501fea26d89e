import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import WebSocket from 'ws'
import { mountLive, unmountLive } from '../../gateway/live/live.js'
import { version } from '../../gateway/base/version.js'
import { Tickets } from '../../gateway/live/tickets.js'
import { loadNodeRed } from '../../gateway/run/node-red.js'
import { Stats } from '../../gateway/stats/stats.js'
import { parse } from '../metrics/parse.js'

const { express } = loadNodeRed()

describe('Live page', () => {
  /** @type {string} */
  let folder
  /** @type {import('node:http').Server} */
  let server
  /** @type {Stats} */
  let stats
  /** @type {string} */
  let origin
  /** Node-RED's. @type {EventEmitter} */
  let events
  /** Let in with a password once a test says so. */
  let password = ''

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-live-'))
    password = ''
    stats = new Stats()
    const app = express()
    app.use((/** @type {any} */ { headers }, /** @type {any} */ response, /** @type {() => void} */ next) => {
      if (!password || headers.authorization === `Basic ${btoa(`user:${password}`)}`) next()
      else response.status(401).end()
    })
    server = createServer(app)
    const settings = { httpNodeRoot: '/flows/', sluice: { allowHosts: ['plant.example'] } }
    events = new EventEmitter()
    const nodes = { getNode: (/** @type {string} */ id) => id === 'line-press' ? { _alias: 'press' } : {} }
    const RED = { server, httpNode: express.Router(), settings, events, nodes }
    app.use('/flows/', RED.httpNode)
    mountLive(RED, stats, () => folder)
    mountLive(RED, stats, () => folder)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  })

  afterEach(async () => {
    await unmountLive(server)
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })

  const page = (/** @type {string} */ path, options = {}) => fetch(`http://${origin}/flows/${path}`, options)
  const stream = (/** @type {string} */ ticket, headers = {}) => new WebSocket(`ws://${origin}/flows/sluice/stream?ticket=${ticket}`, { headers })
  const ticket = async () => (/** @type {{ticket: string}} */ (await (await page('sluice/session')).json())).ticket

  /** The HTTP status an upgrade is refused with. @param {WebSocket} socket */
  async function refusal (socket) {
    socket.on('error', () => {})
    const [, response] = await once(socket, 'unexpected-response')
    socket.terminate()
    return response.statusCode
  }

  it('says by which id the editor knows a node, also one that a subflow has made', async () => {
    stats.meter('sink', 'press', 'line-press')
    stats.meter('sink', 'hall', 'hall')
    const detail = async (/** @type {string} */ id) => (await page(`sluice/detail?sink=${id}`)).json()
    expect(await detail('line-press')).to.deep.include({ nodeId: 'line-press', editorId: 'press' })
    expect(await detail('hall')).to.deep.include({ nodeId: 'hall', editorId: 'hall' })
  })

  it('serves the page and every file it loads', async () => {
    const html = await (await page('sluice/')).text()
    expect(html).to.contain('<title>Sluice, live</title>')
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => `sluice/${path}`)
    const seen = new Set()
    for (const path of loaded) {
      if (seen.has(path)) continue
      seen.add(path)
      const response = await page(path)
      expect(response.status, path).to.equal(200)
      if (!path.endsWith('.js')) continue
      for (const [, name] of (await response.text()).matchAll(/^import .* from '(\.[^']+)'/gm)) {
        loaded.push(new URL(name, `http://page/${path}`).pathname.slice(1))
      }
    }
    expect(seen).to.include('sluice/stats/format.js')
    expect(seen).to.include('sluice/live/page/uplot.js')
  })

  it('serves the documentation under the same rules', async () => {
    const policy = (await page('sluice/')).headers.get('content-security-policy')
    expect((await page('sluice/docs')).url).to.match(/\/sluice\/docs\/$/)
    for (const [path, type] of [['', 'text/html; charset=utf-8'], ['search.json', 'application/json'], ['live.png', 'image/png']]) {
      const response = await page(`sluice/docs/${path}`)
      expect(response.status, path).to.equal(200)
      expect(response.headers.get('content-type')).to.equal(type)
      expect(response.headers.get('content-security-policy')).to.equal(policy)
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
    }
    const drawing = (await page('sluice/docs/promise-way.svg')).headers.get('content-security-policy')
    expect(drawing).to.match(/^default-src 'none'; style-src 'unsafe-inline'; frame/)
    expect((await page('sluice/docs/nothing.html')).status).to.equal(404)
    password = 'secret'
    expect((await page('sluice/docs/')).status).to.equal(401)
  })

  it('leads from /sluice to /sluice/', async () => {
    expect((await page('sluice')).url).to.match(/\/flows\/sluice\/$/)
  })

  it('serves nothing else', async () => {
    for (const path of ['sluice/live/live.js', 'sluice/package.json', 'sluice/live/page/..%2f..%2fstart.js', 'sluice/constructor']) {
      expect((await page(path)).status, path).to.equal(404)
    }
  })

  it('streams reports to whoever has a ticket', async () => {
    stats.meter('source', 'machine').missed = 3
    const socket = stream(await ticket(), { origin: `http://${origin}` })
    const [first] = await once(socket, 'message')
    const [second] = await once(socket, 'message')
    expect(JSON.parse(first).meters[0]).to.deep.include({ stage: 'source', name: 'machine' })
    expect(JSON.parse(second).time).to.be.above(JSON.parse(first).time)
    socket.close()
  })

  it('reads the stats only while somebody looks', async () => {
    expect(stats.readers.size).to.equal(0)
    const sockets = [stream(await ticket()), stream(await ticket())]
    await Promise.all(sockets.map(socket => once(socket, 'message')))
    expect(stats.readers.size).to.equal(1)
    for (const socket of sockets) {
      socket.close()
      await once(socket, 'close')
    }
    while (stats.readers.size > 0) await new Promise(resolve => setTimeout(resolve, 5))
  })

  it('answers what was, to those who may see it', async () => {
    const paths = ['sluice/history/series', 'sluice/history?series=sink/a/rows', 'sluice/history.csv?series=sink/a/rows']
    for (const path of paths) expect((await page(path)).status, path).to.equal(200)
    expect((await page('sluice/history')).status).to.equal(400)
    expect((await page(paths[0], { headers: { origin: 'http://elsewhere.example' } })).status).to.equal(403)
    password = 'secret'
    for (const path of paths) expect((await page(path)).status, path).to.equal(401)
  })

  it('refuses a stream without a ticket, and a ticket that was used', async () => {
    expect(await refusal(stream('made-up'))).to.equal(401)
    const once1 = await ticket()
    const socket = stream(once1)
    await once(socket, 'open')
    expect(await refusal(stream(once1))).to.equal(401)
    socket.close()
  })

  it('refuses a page from elsewhere', async () => {
    expect(await refusal(stream(await ticket(), { origin: 'http://elsewhere.example' }))).to.equal(403)
    expect(await refusal(stream(await ticket(), { origin: 'null' }))).to.equal(403)
  })

  it('is known by the names of the machine, and by those that are allowed', async () => {
    for (const [host, status] of /** @type {const} */ ([['rebound.example', 403], ['plant.example', 200], ['localhost', 200]])) {
      const asked = request(`http://${origin}/flows/sluice/session`, { headers: { host } }).end()
      const [response] = await once(asked, 'response')
      expect(response.statusCode, host).to.equal(status)
      response.resume()
    }
    expect(await refusal(stream(await ticket(), { host: 'rebound.example' }))).to.equal(403)
  })

  it('is shown in no frame of another page', async () => {
    const { headers } = await page('sluice/')
    expect(headers.get('content-security-policy')).to.contain('frame-ancestors \'self\'')
    expect(headers.get('x-frame-options')).to.equal('SAMEORIGIN')
  })

  it('says with its version whether the flows run, and by its status to those who only look at that', async () => {
    const health = async () => {
      const response = await page('sluice/health')
      return { code: response.status, ...await response.json() }
    }
    expect(await health()).to.deep.equal({ code: 503, status: 'starting', version })
    events.emit('flows:started', {})
    expect(await health()).to.deep.equal({ code: 200, status: 'running', version })
    events.emit('flows:stopping', { type: 'nodes' })
    expect(await health()).to.include({ code: 200 })
    events.emit('flows:stopping', { type: 'full' })
    expect(await health()).to.deep.equal({ code: 503, status: 'stopping', version })
    unmountLive(server)
    expect(events.listenerCount('flows:started') + events.listenerCount('flows:stopping')).to.equal(0)
  })

  it('is ready once the flows run and all that is to be connected is, and names what is not', async () => {
    const ready = async () => {
      const response = await page('sluice/health/ready')
      return { code: response.status, ...await response.json() }
    }
    expect(await ready()).to.deep.equal({ code: 503, status: 'starting', missing: [] })
    events.emit('flows:started', {})
    stats.gauge('machine', () => ({ state: 'online' }))
    expect(await ready()).to.deep.equal({ code: 200, status: 'ready', missing: [] })
    const sink = { connected: false, problem: null, lastError: 'The server is gone.' }
    stats.gauge('sink plant', () => sink)
    stats.gauge('spool out', () => ({ connected: false }))
    expect(await ready()).to.deep.equal({
      code: 503,
      status: 'not ready',
      missing: [{ name: 'sink plant', problem: 'The server is gone.' }, { name: 'spool out', problem: null }]
    })
    stats.gauge('spool out', () => ({ connected: true }))
    sink.connected = true
    expect(await ready()).to.include({ code: 200 })
  })

  it('comes with counters for programs', async () => {
    stats.meter('source', 'machine').missed = 3
    const scraped = await page('sluice/metrics', { headers: { accept: 'application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1' } })
    expect(scraped.headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(parse(await scraped.text()).get('sluice_source_missed_rows_total')?.samples).to.deep.equal([
      { name: 'sluice_source_missed_rows_total', labels: { source: 'machine' }, value: 3 }
    ])
    const headers = { accept: 'application/json' }
    const { meters } = /** @type {{meters: object[]}} */ (await (await page('sluice/metrics', { headers })).json())
    expect(meters[0]).to.deep.include({ stage: 'source', name: 'machine', missed: 3 })
  })

  it('asks for the password that guards the pages: without it there is no ticket', async () => {
    password = 'open sesame'
    expect((await page('sluice/session')).status).to.equal(401)
    const headers = { authorization: `Basic ${btoa('user:open sesame')}` }
    const { ticket: granted } = /** @type {{ticket: string}} */ (await (await page('sluice/session', { headers })).json())
    const socket = stream(granted)
    await once(socket, 'open')
    socket.close()
  })

  it('leaves upgrades to other paths alone', async () => {
    server.on('upgrade', ({ url = '' }, socket) => {
      if (url.startsWith('/other')) socket.end('HTTP/1.1 418 Other\r\nConnection: close\r\n\r\n')
    })
    const attempt = request(`http://${origin}/other`, { headers: { connection: 'upgrade', upgrade: 'websocket' } }).end()
    const [response] = await once(attempt, 'response')
    expect(response.statusCode).to.equal(418)
  })

  it('is gone once unmounted', async () => {
    const socket = stream(await ticket())
    await once(socket, 'open')
    unmountLive(server)
    await once(socket, 'close')
    expect((await page('sluice/')).status).to.equal(404)
    expect(stats.readers.size).to.equal(0)
    expect(server.listenerCount('upgrade')).to.equal(0)
  })

  it('is not served where Node-RED serves no pages', () => {
    const bare = createServer()
    mountLive({ server: bare, httpNode: express(), settings: { httpNodeRoot: false } }, stats, () => folder)
    expect(bare.listenerCount('upgrade')).to.equal(0)
  })
})

describe('Tickets', () => {
  it('let in once, and for half a minute', () => {
    let now = 0
    const tickets = new Tickets(() => now)
    const [first, second] = [tickets.issue(), tickets.issue()]
    expect(tickets.redeem(null)).to.equal(false)
    expect(tickets.redeem(first)).to.equal(true)
    expect(tickets.redeem(first)).to.equal(false)
    now = 30_001
    expect(tickets.redeem(second)).to.equal(false)
  })
})
