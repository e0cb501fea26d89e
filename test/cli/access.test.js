import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { askForUser, needsUsers, setUsers } from '../../gateway/cli/login.js'
import { lockUserDir } from '../../gateway/run/user-dir-lock.js'
import { version } from '../../gateway/base/version.js'
import { isPasswordOf, readUsers } from '../../gateway/web/users.js'
import { sluice } from './process.js'

const EXEC = { id: 'exec', type: 'exec', z: 'empty', command: 'true', wires: [[], [], []] }
const ADA = `Basic ${btoa('ada:correct horse')}`
const WALLBOARD = `Basic ${btoa('wallboard:battery: staple')}`

describe('Access to a gateway that runs', () => {
  /** @type {string} */
  let folder
  /** @type {ReturnType<typeof sluice>|null} */
  let gateway
  /** @type {string} */
  let url

  /** @param {string[]} more */
  async function start (...more) {
    gateway = sluice('start', '--user-dir', join(folder, 'user'), '--flows', join(folder, 'flow.json'), '--port', '0', ...more)
    url = (await gateway.says(/Editor +(http:\S+)\/[^]*Ctrl-C/))[1]
  }

  async function stop () {
    gateway?.child.kill('SIGTERM')
    const ended = await gateway?.exit
    gateway = null
    return ended
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-access-'))
    await writeFile(join(folder, 'flow.json'), JSON.stringify([
      { id: 'empty', type: 'tab', label: 'empty' },
      { id: 'in', type: 'http in', z: 'empty', url: '/endpoint', method: 'post', wires: [['out']] },
      { id: 'out', type: 'http response', z: 'empty', wires: [] }
    ]))
    await writeFile(join(folder, 'users'), 'ada:change:correct horse\nwallboard:view:battery: staple\n')
    await writeFile(join(folder, 'token'), 'the-token\n')
  })
  afterEach(async () => {
    gateway?.child.kill('SIGKILL')
    await gateway?.exit
    gateway = null
    await rm(folder, { recursive: true })
  })

  /**
   * The status, and the text.
   * @param {string} path
   * @param {{method?: string, headers?: import('node:http').OutgoingHttpHeaders, body?: string}} [options]
   */
  async function ask (path, { method = 'GET', headers = {}, body } = {}) {
    const asked = request(url + path, { method, headers }).end(body)
    const [response] = await once(asked, 'response')
    return { status: response.statusCode, headers: response.headers, text: (await response.setEncoding('utf8').toArray()).join('') }
  }

  /** How an upgrade is answered: 101 when it is accepted. @param {string} path @param {Record<string, string>} headers */
  async function upgrade (path, headers) {
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers })
    socket.on('error', () => {})
    const status = await new Promise(resolve => {
      socket.on('open', () => resolve(101))
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
    })
    socket.terminate()
    return status
  }

  /** Of the nodes that are deployed. */
  async function types () {
    return JSON.parse((await ask('/flows')).text).map((/** @type {{type: string}} */ { type }) => type)
  }

  it('is refused to foreign pages and under foreign names, on every path and upgrade', async () => {
    await start()
    const flow = 'label=x&nodes[0][id]=exec&nodes[0][type]=exec&nodes[0][command]=true&nodes[0][wires][0]='
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://evil.example' }
    expect((await ask('/flow', { method: 'POST', headers: form, body: flow })).status).to.equal(403)
    const json = { 'content-type': 'application/json', host: 'rebound.example', origin: 'http://rebound.example' }
    expect((await ask('/flows', { method: 'POST', headers: json, body: JSON.stringify([EXEC]) })).status).to.equal(403)
    expect(await types()).to.not.include('exec')
    for (const path of ['/', '/flows', '/settings', '/sluice/', '/sluice/session', '/endpoint', '/resources/@sluice/node-red/options.js']) {
      expect((await ask(path, { headers: { host: 'rebound.example' } })).status, path).to.equal(403)
      expect((await ask(path, { headers: { origin: 'http://evil.example' } })).status, path).to.equal(403)
      expect((await ask(path)).headers['x-frame-options'], path).to.equal('SAMEORIGIN')
    }
    expect(await upgrade('/comms', { origin: 'http://evil.example' })).to.equal(403)
    expect(await upgrade('/comms', { host: 'rebound.example' })).to.equal(403)
    expect(await upgrade('/comms', { origin: url })).to.equal(101)
    expect(await upgrade('/comms', {})).to.equal(101)
    for (const path of ['/sluice-servers/sluice-postgresql-server/test', '/sluice-can/dbc', '/sluice-modbus/try']) {
      const { status, text } = await ask(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' })
      expect(`${status} ${text}`, path).to.match(/^403 SLUICE_WEB_JSON: /)
    }
  })

  it('is granted to programs, to its own pages, and under a name that is allowed', async () => {
    await start('--allow-host', 'plant.example')
    for (const headers of [{}, { origin: url }, { host: 'plant.example', origin: 'https://plant.example' }]) {
      const body = JSON.stringify({ label: 'added', nodes: [] })
      const json = { 'content-type': 'application/json', ...headers }
      expect((await ask('/flow', { method: 'POST', headers: json, body })).status).to.equal(200)
    }
    while ((await ask('/sluice/health')).status !== 200); // the flows are starting
    expect(JSON.parse((await ask('/sluice/health')).text)).to.deep.equal({ status: 'running', version })
    expect(JSON.parse((await ask('/sluice/health/ready')).text)).to.deep.equal({ status: 'ready', missing: [] })
    const asJson = { headers: { accept: 'application/json' } }
    expect(JSON.parse((await ask('/sluice/metrics', asJson)).text)).to.have.all.keys('meters', 'gauges', 'ledger', 'statuses', 'host')
    expect((await ask('/sluice/metrics')).text).to.match(/^sluice_ready 1$/m)
  })

  it('needs a login once there is one, on all pages and for all that is not read', async () => {
    await start('--login-file', join(folder, 'users'), '--metrics-token-file', join(folder, 'token'))
    expect((await ask('/flows')).status).to.equal(401)
    expect((await ask('/sluice/')).status).to.equal(401)
    expect((await ask('/sluice/session')).status).to.equal(401)
    expect((await ask('/sluice/metrics')).status).to.equal(401)
    expect((await ask('/endpoint', { method: 'POST' })).status).to.equal(401)
    while ((await ask('/sluice/health')).status !== 200); // the flows are starting
    expect(JSON.parse((await ask('/sluice/health/ready')).text)).to.deep.equal({ status: 'ready' })
    const byToken = { headers: { authorization: 'Bearer the-token' } }
    expect(JSON.parse((await ask('/sluice/health/ready', byToken)).text)).to.deep.equal({ status: 'ready', missing: [] })
    expect((await ask('/sluice/metrics', { headers: { authorization: 'Bearer the-token' } })).status).to.equal(200)
    expect((await ask('/flows', { headers: { authorization: 'Bearer the-token' } })).status).to.equal(401)
    for (const authorization of [ADA, WALLBOARD]) {
      expect((await ask('/sluice/', { headers: { authorization } })).text).to.contain('<title>Sluice, live</title>')
    }
    const { ticket } = JSON.parse((await ask('/sluice/session', { headers: { authorization: WALLBOARD } })).text)
    expect(await upgrade(`/sluice/stream?ticket=${ticket}`, {})).to.equal(101)
    expect(await upgrade('/sluice/stream', {})).to.equal(401)
    expect(await upgrade('/flow/socket', {})).to.equal(401)
    expect((await ask('/endpoint', { method: 'POST', headers: { authorization: ADA } })).status).to.equal(200)
    expect((await ask('/endpoint', { method: 'POST', headers: { authorization: WALLBOARD } })).status).to.equal(403)
  })

  it('to the editor has two roles, and ends when the users change', async () => {
    await start('--login-file', join(folder, 'users'))
    const ada = { authorization: await token('ada', 'correct horse'), 'content-type': 'application/json' }
    const wallboard = { ...ada, authorization: await token('wallboard', 'battery: staple') }
    const body = JSON.stringify({ label: 'added', nodes: [] })
    expect((await ask('/flows', { headers: wallboard })).status).to.equal(200)
    expect((await ask('/flow', { method: 'POST', headers: wallboard, body })).status).to.equal(401)
    expect((await ask('/flow', { method: 'POST', headers: ada, body })).status).to.equal(200)
    await stop()
    await start()
    expect((await ask('/flows', { headers: ada })).status).to.equal(200)
    await stop()
    await writeFile(join(folder, 'users'), 'ada:view:correct horse\n')
    await start('--login-file', join(folder, 'users'))
    expect((await ask('/flows', { headers: ada })).status).to.equal(401)
  })

  it('to the editor is slowed down for an address that guesses names and passwords', async () => {
    await start('--login-file', join(folder, 'users'))
    const statuses = []
    for (let i = 0; i < 12; i++) statuses.push((await logIn(`user ${i}`, `guess ${i}`)).status)
    expect(statuses.slice(0, 5)).to.deep.equal(Array(5).fill(403))
    expect(statuses).to.include(429)
  })

  /** @param {string} username @param {string} password */
  function logIn (username, password) {
    const body = JSON.stringify({ client_id: 'node-red-editor', grant_type: 'password', scope: '', username, password })
    return ask('/auth/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }

  /** @param {string} username @param {string} password */
  async function token (username, password) {
    return `Bearer ${JSON.parse((await logIn(username, password)).text).access_token}`
  }

  it('says nothing of passwords and tokens', async () => {
    await start('--login-file', join(folder, 'users'), '--metrics-token-file', join(folder, 'token'))
    await ask('/sluice/', { headers: { authorization: `Basic ${btoa('ada:a wrong one')}` } })
    await ask('/sluice/', { headers: { authorization: ADA } })
    const { code, stdout, stderr } = /** @type {any} */ (await stop())
    expect(code).to.equal(0)
    expect(stdout + stderr).to.not.match(/correct horse|staple|a wrong one|the-token/)
  })

  it('from beyond this machine is not offered without a login', async () => {
    gateway = sluice('start', '--user-dir', join(folder, 'user'), '--port', '0', '--host', '0.0.0.0')
    const { code, stderr } = await gateway.exit
    expect(code).to.equal(1)
    expect(stderr).to.match(/^sluice start: SLUICE_LOGIN_MISSING: On 0\.0\.0\.0 others reach the gateway.* sluice start --login/)
  })

  it('is not offered with users or a token that cannot be read', async () => {
    await writeFile(join(folder, 'wrong'), 'ada:change:correct horse\nthe password of bob\n')
    await writeFile(join(folder, 'none'), '\n')
    for (const [option, file, words] of [
      ['--login-file', 'wrong', /SLUICE_LOGIN_USERS: Line 2 of the users is none/],
      ['--login-file', 'none', /SLUICE_LOGIN_USERS: No users are given/],
      ['--login-file', 'nowhere', /SLUICE_LOGIN_FILE: .*nowhere cannot be read/],
      ['--metrics-token-file', 'none', /SLUICE_LOGIN_FILE: .*none has no token/]
    ]) {
      const args = ['--user-dir', join(folder, 'user'), '--port', '0', String(option), join(folder, String(file))]
      gateway = sluice('start', ...args)
      const { code, stderr } = await gateway.exit
      expect(code).to.equal(1)
      expect(stderr).to.match(/** @type {RegExp} */ (words)).and.not.contain('of bob')
    }
  })
})

describe('Entering users', () => {
  /** @type {string} */
  let folder

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-entering-')) })
  afterEach(() => rm(folder, { recursive: true }))

  /**
   * Answers what is asked, as somebody at a terminal; gives all that was shown.
   * @param {string[]} answers
   */
  async function enter (...answers) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    let shown = ''
    output.setEncoding('utf8').on('data', text => {
      shown += text
      if (/: $/.test(text)) setImmediate(() => input.write(`${answers.shift() ?? '\x03'}\r`))
    })
    const error = await askForUser(folder, input, output).then(() => null, reason => reason)
    return { shown, error }
  }

  it('asks for name, role and password, and shows no password', async () => {
    const { shown, error } = await enter('ada', 'view', 'correct horse', 'correct horse')
    expect(error).to.equal(null)
    expect(shown).to.contain('Password again: ').and.not.contain('correct horse')
    const ada = readUsers(folder).get('ada')
    expect(ada?.role).to.equal('view')
    expect(await isPasswordOf('correct horse', ada)).to.equal(true)
  })

  it('proposes an administrator, changes who is there, and deletes whose password is empty', async () => {
    await enter('', '', 'correct horse', 'correct horse')
    await enter('ada', 'view', 'correct horse', 'correct horse')
    await enter('admin', 'view', 'another one', 'another one')
    expect([...readUsers(folder)].map(([name, { role }]) => `${name} ${role}`)).to.deep.equal(['admin view', 'ada view'])
    await enter('admin', '', '')
    expect([...readUsers(folder).keys()]).to.deep.equal(['ada'])
  })

  it('takes no passwords that differ or are short, no other roles, and no interruption', async () => {
    for (const answers of [
      ['', '', 'correct horse', 'correct house'], ['', '', 'short', 'short'], ['', 'owner', 'correct horse', 'correct horse'], ['', '']
    ]) {
      const { error } = await enter(...answers)
      expect(error?.code, answers.join()).to.equal('SLUICE_LOGIN_USERS')
      expect(readUsers(folder).size).to.equal(0)
    }
  })

  it('from lines makes these all there are, and touches nothing where they are already', async () => {
    const file = join(folder, 'users.json')
    await setUsers(folder, 'ada:change:correct horse\r\nbob:view:battery: staple\r\n')
    const before = await readFile(file, 'utf8')
    const { ino } = await stat(file)
    await setUsers(folder, 'bob:view:battery: staple\nada:change:correct horse')
    expect((await stat(file)).ino).to.equal(ino)
    await setUsers(folder, 'ada:change:correct horse')
    expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal({ ada: JSON.parse(before).ada })
    await setUsers(folder, 'ada:view:correct horse')
    expect(readUsers(folder).get('ada')?.role).to.equal('view')
  })

  it('waits until no gateway runs there, which would still let in those of before', async () => {
    const unlock = lockUserDir(folder)
    const error = await setUsers(folder, 'ada:change:correct horse').catch(reason => reason)
    unlock()
    expect(error.code).to.equal('SLUICE_USER_DIR_IN_USE')
  })

  it('is asked of who would let others in without', async () => {
    expect(needsUsers(folder, '127.0.0.1')).to.equal(false)
    expect(needsUsers(folder, '0.0.0.0')).to.equal(true)
    await setUsers(folder, 'ada:change:correct horse')
    expect(needsUsers(folder, '0.0.0.0')).to.equal(false)
  })
})
