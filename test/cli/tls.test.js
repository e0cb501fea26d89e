import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { healthOf } from '../../gateway/update/health.js'
import { makeCertificates } from '../servers/certificates.js'
import { sluice } from './process.js'

const ADA = `Basic ${btoa('ada:correct horse')}`

describe('A gateway with TLS', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let url
  /** @type {string} */
  let ca
  /** @type {ReturnType<typeof sluice>} */
  let gateway

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'))
    const { ca: file, server } = makeCertificates(folder)
    ca = await readFile(file, 'utf8')
    await writeFile(join(folder, 'users'), 'ada:change:correct horse\n')
    await writeFile(join(folder, 'flow.json'), JSON.stringify([
      { id: 'empty', type: 'tab', label: 'empty' },
      { id: 'page', type: 'sluice-stats', z: 'empty', intervalMs: 3_600_000, wires: [[]] }
    ]))
    gateway = sluice('start', '--user-dir', join(folder, 'user'), '--flows', join(folder, 'flow.json'), '--port', '0',
      '--login-file', join(folder, 'users'), '--tls-cert', server.cert, '--tls-key', server.key)
    url = (await gateway.says(/Editor +(https:\S+)\/[^]*Live page +https:[^]*Ctrl-C/))[1]
  })
  after(async () => {
    gateway?.child.kill('SIGKILL')
    await gateway?.exit
    await rm(folder, { recursive: true })
  })

  /** @param {string} path @param {{method?: string, headers?: import('node:http').OutgoingHttpHeaders, body?: string}} [options] */
  async function ask (path, { method = 'GET', headers = {}, body } = {}) {
    const [response] = await once(request(url + path, { method, headers, ca, servername: 'localhost', agent: false }).end(body), 'response')
    return { status: response.statusCode, headers: response.headers, text: (await response.setEncoding('utf8').toArray()).join('') }
  }

  /** How an upgrade is answered: 101 when it is accepted. @param {string} path @param {Record<string, string>} headers */
  async function upgrade (path, headers = {}) {
    const socket = new WebSocket(url.replace('https', 'wss') + path, { headers, ca })
    socket.on('error', () => {})
    const status = await new Promise(resolve => {
      socket.on('open', () => resolve(101))
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
    })
    socket.terminate()
    return status
  }

  it('logs in to the editor, deploys, and shows its live page, over connections whose certificate is checked', async () => {
    const login = { client_id: 'node-red-editor', grant_type: 'password', scope: '', username: 'ada', password: 'correct horse' }
    const json = { 'content-type': 'application/json', origin: url }
    const answer = await ask('/auth/token', { method: 'POST', headers: json, body: JSON.stringify(login) })
    const authorization = `Bearer ${JSON.parse(answer.text).access_token}`
    const body = JSON.stringify({ label: 'added', nodes: [] })
    expect((await ask('/flow', { method: 'POST', headers: { ...json, authorization }, body })).status).to.equal(200)
    expect((await ask('/sluice/', { headers: { authorization: ADA } })).text).to.contain('<title>Sluice, live</title>')
    const { ticket } = JSON.parse((await ask('/sluice/session', { headers: { authorization: ADA } })).text)
    expect(await upgrade(`/sluice/stream?ticket=${ticket}`, { origin: url })).to.equal(101)
    expect(await upgrade('/comms', { origin: url })).to.equal(101)
  })

  it('refuses pages of other origins and names, and who is not logged in', async () => {
    expect((await ask('/', { headers: { origin: 'https://evil.example' } })).status).to.equal(403)
    expect((await ask('/', { headers: { host: 'rebound.example', origin: 'https://rebound.example' } })).status).to.equal(403)
    expect(await upgrade('/comms', { origin: 'https://evil.example' })).to.equal(403)
    expect((await ask('/flows')).status).to.equal(401)
    expect((await ask('/sluice/')).status).to.equal(401)
  })

  it('tells an update how it is, which asks by http, knows no certificate and does not log in', async () => {
    const health = await healthOf(`${url.replace('https', 'http')}/`)
    expect(health).to.include({ trouble: 0 }).and.to.have.property('version').that.matches(/^\d+\.\d+\.\d+/)
  })

  it('sets no cookie, which could be sent in clear text', async () => {
    for (const path of ['/', '/sluice/', '/flows']) {
      expect((await ask(path, { headers: { authorization: ADA } })).headers, path).to.not.have.property('set-cookie')
    }
  })
})

describe('A gateway without all that TLS needs', () => {
  it('does not start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'))
    const start = (/** @type {string[]} */ ...more) => sluice('start', '--user-dir', join(folder, 'user'), '--port', '0', ...more).exit
    const one = await start('--tls-cert', 'a')
    expect(`${one.code} ${one.stderr}`).to.match(/^2 .*--tls-cert and --tls-key belong together\./)
    const missing = await start('--tls-cert', join(folder, 'a'), '--tls-key', join(folder, 'b'))
    expect(`${missing.code} ${missing.stderr}`).to.match(/^1 .*SLUICE_TLS_FILE: .*a cannot be read/)
    await rm(folder, { recursive: true })
  })
})
