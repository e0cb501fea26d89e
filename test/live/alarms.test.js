import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Alarms } from '../../gateway/alarms/alarms.js'
import { KINDS } from '../../gateway/alarms/kinds/index.js'
import { Limits } from '../../gateway/alarms/limits.js'
import { Snapshots } from '../../gateway/alarms/snapshot.js'
import { mountLive, unmountLive } from '../../gateway/live/live.js'
import { loadNodeRed } from '../../gateway/run/node-red.js'
import { Stats } from '../../gateway/stats/stats.js'
import { Login } from '../../gateway/web/login.js'
import { makeUser } from '../../gateway/web/users.js'

const { express } = loadNodeRed()
const PASSWORD = 'a good password'
const ID = 'dead-letters:sink:a/b c'

describe('Alarms over HTTP', () => {
  /** @type {import('node:http').Server} */
  let server
  /** @type {Stats} */
  let stats
  /** @type {string} */
  let root
  /** @type {string} */
  let folder

  beforeEach(async () => {
    const app = express()
    server = createServer(app)
    const users = new Map()
    for (const [name, role] of /** @type {const} */ ([['ada', 'change'], ['wall', 'view']])) {
      users.set(name, await makeUser({ name, role, password: PASSWORD }))
    }
    app.use(new Login(users).middleware)
    const RED = { server, httpNode: express.Router(), settings: {}, events: new EventEmitter() }
    app.use('/', RED.httpNode)
    stats = new Stats()
    folder = await mkdtemp(join(tmpdir(), 'sluice-alarms-'))
    mountLive(RED, stats, () => folder)
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

  /** With one that is raised. */
  function judged () {
    stats.gauge('sink a/b c', () => ({ connected: true, keptDeadLetters: 1 }))
    const clock = { state: /** @type {const} */ ('set'), isWrong: false }
    const surroundings = { now: () => 0, wallNow: () => 0, clock, blockedMs: () => 0 }
    const snapshots = new Snapshots(stats, new Limits(), surroundings)
    const alarms = stats.alarms = new Alarms({ kinds: KINDS, take: () => snapshots.take(), now: () => 0, wallNow: () => 0 })
    alarms.judge()
    return alarms
  }

  /** @param {string} path @param {string} [user] @param {RequestInit} [more] */
  const ask = (path, user = 'ada', more = {}) =>
    fetch(root + path, { ...more, headers: { authorization: `Basic ${btoa(`${user}:${PASSWORD}`)}`, ...more.headers } })
  /** @param {string} id @param {string} [user] */
  const acknowledge = (id, user) => ask(`alarms/${encodeURIComponent(id)}/acknowledge`, user, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }
  })

  it('are none where nothing judges', async () => {
    expect(await (await ask('alarms')).json()).to.deep.equal({ active: [], recent: [] })
  })

  it('are listed for who may look, and acknowledged by who may change', async () => {
    const alarms = judged()
    expect(await (await ask('alarms', 'wall')).json()).to.deep.equal({ active: alarms.active, recent: [] })
    expect((await acknowledge(ID, 'wall')).status).to.equal(403)
    expect(alarms.active[0].acknowledgedMs).to.equal(null)
    const answer = await acknowledge(ID)
    expect([answer.status, await answer.json()]).to.deep.equal([200, { ...alarms.active[0], acknowledgedMs: 0 }])
    expect(alarms.active[0].acknowledgedMs).to.equal(0)
  })

  it('are not acknowledged by a form of another page, nor when they are not raised', async () => {
    const alarms = judged()
    expect((await ask(`alarms/${encodeURIComponent(ID)}/acknowledge`, 'ada', { method: 'POST', body: 'a=b' })).status).to.equal(403)
    const unknown = await acknowledge('dead-letters:sink:other')
    expect([unknown.status, await unknown.text()]).to.deep.equal([404,
      'SLUICE_ALARM_UNKNOWN: No such alarm is raised; it may have been cleared. GET /sluice/alarms lists those that are.\n'
    ])
    expect((await ask('alarms/%E0%A4%A/acknowledge', 'ada', { method: 'POST', headers: { 'Content-Type': 'application/json' } })).status)
      .to.be.oneOf([400, 404])
    expect(alarms.active[0].acknowledgedMs).to.equal(null)
  })

  it('are in the reports that the live page gets', () => {
    const alarms = judged()
    const reader = stats.reader()
    expect(reader.read().alarms).to.deep.equal(alarms.active)
    reader.close()
  })
})
