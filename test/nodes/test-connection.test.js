import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE_RED = join(dirname(createRequire(import.meta.url).resolve('node-red/package.json')), 'red.js')

/** Two users, whose names are their passwords: one may do all, one may only look. */
const SETTINGS = `
const permissions = { owner: '*', guest: 'read' }
const find = name => name in permissions ? { username: name, permissions: permissions[name] } : null
module.exports = {
  uiHost: '127.0.0.1',
  flowFile: 'flows.json',
  credentialSecret: false,
  telemetry: { enabled: false },
  adminAuth: {
    type: 'credentials',
    users: async name => find(name),
    authenticate: async (name, password) => name === password ? find(name) : null
  }
}`

describe('Test connection, asked of Node-RED', function () {
  this.timeout(40_000)

  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {import('node:child_process').ChildProcessWithoutNullStreams} */
  let nodeRed
  /** @type {string} */
  let userDir
  /** @type {string} */
  let url
  let log = ''
  /** @type {import('node:net').Server} a server that accepts connections and says nothing */
  let silent

  before(async function () {
    requirePostgresql(this)
    postgresql = await startPostgresql()
    userDir = await mkdtemp(join(tmpdir(), 'sluice-node-red-'))
    silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    await startNodeRed()
  })

  after(async () => {
    if (nodeRed?.exitCode === null) {
      nodeRed.kill('SIGTERM')
      await once(nodeRed, 'exit')
    }
    silent?.close()
    await postgresql?.remove()
    if (userDir) await rm(userDir, { recursive: true })
  })

  /** With a server that is deployed, and a broker that has a password too. */
  async function startNodeRed () {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    await mkdir(userDir, { recursive: true })
    const settings = SETTINGS.replace('uiHost', `uiPort: ${port}, nodesDir: [${JSON.stringify(ROOT)}], uiHost`)
    await writeFile(join(userDir, 'settings.js'), settings)
    await writeFile(join(userDir, 'flows.json'), JSON.stringify([
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'globals', type: 'global-config', env: [{ name: 'DATABASE', value: postgresql.database, type: 'str' }] },
      { id: 'server', type: 'sluice-postgresql-server', host: '127.0.0.1', port: postgresql.port, database: postgresql.database },
      { id: 'broker', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1' }
    ]))
    const { user, password } = postgresql
    const credentials = { server: { user, password: '${THE_PASSWORD}' }, broker: { user, password } }
    await writeFile(join(userDir, 'flows_cred.json'), JSON.stringify(credentials))
    nodeRed = spawn(process.execPath, [NODE_RED, '--userDir', userDir], {
      cwd: userDir, env: { ...process.env, THE_PASSWORD: password, THE_PORT: String(postgresql.port) }
    })
    process.on('exit', () => nodeRed.kill('SIGKILL'))
    for (const stream of [nodeRed.stdout, nodeRed.stderr]) stream.setEncoding('utf8').on('data', text => { log += text })
    while (!log.includes('Started flows')) {
      if (nodeRed.exitCode !== null) throw new Error(`Node-RED ended:\n${log}`)
      await sleep(50)
    }
  }

  /** @param {string} name */
  async function login (name) {
    const body = JSON.stringify({ client_id: 'node-red-editor', grant_type: 'password', scope: '*', username: name, password: name })
    const response = await fetch(`${url}/auth/token`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    return `Bearer ${(await response.json()).access_token}`
  }

  /** @param {object} body @param {string} [as] @param {string} [path] */
  async function ask (body, as = 'owner', path = 'sluice-servers/sluice-postgresql-server/test') {
    const headers = { 'Content-Type': 'application/json', ...(as ? { Authorization: await login(as) } : {}) }
    return fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** What the form of a new node says. @param {object} [options] @param {string} [id] */
  async function outcome (options, id = 'new') {
    const { port, user, password, database } = postgresql
    const filled = { name: '', host: '127.0.0.1', port: String(port), database, user, password, tls: 'off', ...options }
    const response = await ask({ id, options: filled })
    expect(response.status).to.equal(200)
    const text = await response.text()
    expect(text).not.to.include(password)
    return JSON.parse(text)
  }

  const good = /^PostgreSQL \S+, database "postgres", logged in as "postgres"\.$/

  it('says what is there', async () => {
    const { ok, text } = await outcome()
    expect(text).to.match(good)
    expect(ok).to.equal(true)
  })

  it('says that the password is wrong, and what to do', async () => {
    const { ok, text } = await outcome({ password: 'not the password' })
    expect(ok).to.equal(false)
    expect(text).to.match(/^No connection to PostgreSQL at 127\.0\.0\.1:\d+, database "postgres": /)
    expect(text).to.match(/password authentication failed.* Check user and password\.$/)
    expect(text).not.to.include('not the password')
  })

  it('says that nothing listens, and that there is no such database', async () => {
    const deaf = await outcome({ port: await freePort() })
    expect(deaf.ok).to.equal(false)
    expect(deaf.text).to.match(/Check host and port, and that the server runs\.$/)
    const missing = await outcome({ database: 'nowhere' })
    expect(missing.ok).to.equal(false)
    expect(missing.text).to.match(/Create the database, or check its name\.$/)
  })

  it('says all that is wrong with the options, and connects nowhere', async () => {
    expect(await outcome({ port: '70000', tls: 'sometimes' })).to.deep.equal({
      ok: false,
      text: 'Port must be between 1 and 65,535; 70,000 is too large. ' +
        'TLS must be one of off, require, verify; "sometimes" is not one of them.'
    })
  })

  it('fills in environment variables, those of the flow too, and defaults', async () => {
    expect((await outcome({ port: '${THE_PORT}', password: '${THE_PASSWORD}', host: '' })).text).to.match(good)
    expect((await outcome({ database: '${DATABASE}' }, 'server')).text).to.match(good)
    expect((await outcome({ port: '${NO_PORT}' })).text).to.equal('Port must be between 1 and 65,535; "${NO_PORT}" is not a number.')
  })

  it('takes a password that the form does not show from the deployed node', async () => {
    expect((await outcome({ password: '__PWRD__' }, 'server')).text).to.match(good)
    expect((await outcome({ password: '__PWRD__', database: 'nowhere' }, 'server')).text).to.include('database "nowhere" does not exist')
  })

  it('never sends a stored password to another host or port than it was stored for', async () => {
    const heard = /** @type {Buffer[]} */ ([])
    const rogue = createServer(socket => {
      socket.on('data', data => heard.push(data)).on('error', () => {})
      socket.write('R\0\0\0\x08\0\0\0\x03') // as PostgreSQL asks for a password in plain text
    }).listen(0, '127.0.0.1')
    await once(rogue, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (rogue.address())
    for (const place of [{ port }, { host: 'localhost' }, { host: '127.0.0.2', port }]) {
      const { ok, text } = await outcome({ password: '__PWRD__', ...place }, 'server')
      expect(ok).to.equal(false)
      expect(text).to.match(/^The stored password is for another server, .* Enter the password of this one in the form\.$/)
    }
    expect(heard).to.deep.equal([])
    rogue.close()
  })

  it('takes the same host and port for what they are, however they are written', async () => {
    for (const place of [{ host: '' }, { port: '${THE_PORT}' }]) {
      expect((await outcome({ password: '__PWRD__', ...place }, 'server')).text).to.match(good)
    }
  })

  it('never takes that of another node', async () => {
    for (const id of ['broker', 'new']) expect((await outcome({ password: '__PWRD__' }, id)).ok).to.equal(false)
  })

  it('answers no page of another site, and nothing but JSON', async () => {
    const authorization = await login('owner')
    for (const [type, origin, code] of [['application/json', 'http://evil.example', 'ORIGIN'], ['text/plain', url, 'JSON']]) {
      const headers = { authorization, 'Content-Type': type, Origin: origin }
      const path = `${url}/sluice-servers/sluice-postgresql-server/test`
      const response = await fetch(path, { method: 'POST', headers, body: '{}' })
      expect(response.status).to.equal(403)
      expect(await response.text()).to.match(new RegExp(`^SLUICE_WEB_${code}: `))
    }
  })

  it('answers nobody who may not deploy', async () => {
    expect((await ask({}, 'guest')).status).to.equal(401)
    expect((await ask({}, '')).status).to.equal(401)
  })

  it('tries mappings for those who may deploy only, and sends no stored password of a broker elsewhere', async () => {
    for (const what of ['listen', 'try', 'stop']) {
      for (const as of ['guest', '']) expect((await ask({}, as, `sluice-topics/${what}`)).status).to.equal(401)
    }
    const server = { id: 'broker', type: 'sluice-broker', options: { url: 'mqtt://127.0.0.1:2', user: '__PWRD__', password: '__PWRD__' } }
    const refused = await (await ask({ server }, 'owner', 'sluice-topics/listen')).json()
    expect(refused.text).to.match(/^The stored password is for another server, and is sent nowhere else\./)
    const question = { message: { topic: 'hall/1', payload: '21.5' }, mappings: [{ topic: '{source}/{room}' }] }
    const tried = await ask(question, 'owner', 'sluice-topics/try')
    expect((await tried.json()).row).to.deep.include({ source: 'hall', tags: [['room', '1']], fields: [['value', 'float64', '21.5']] })
  })

  it('tries a broker for those who may deploy only, and sends no stored password elsewhere', async () => {
    const path = 'sluice-servers/sluice-broker/test'
    for (const as of ['guest', '']) expect((await ask({}, as, path)).status).to.equal(401)
    const broker = { id: 'broker', options: { url: 'mqtt://127.0.0.1:2', user: '__PWRD__', password: '__PWRD__' } }
    expect((await (await ask(broker, 'owner', path)).json()).text).to.match(/^The stored password is for another server/)
  })

  it('gives up in time on a server that says nothing', async () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (silent.address())
    const began = performance.now()
    const { ok, text } = await outcome({ port })
    expect(performance.now() - began).to.be.within(10_000, 17_000)
    expect(ok).to.equal(false)
    expect(text).to.match(/Check host and port/)
  })
})
