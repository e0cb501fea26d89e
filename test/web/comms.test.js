import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { sluice } from '../cli/process.js'

const FLOW = [{ id: 'flow', type: 'tab', label: 'flow' }]

describe('The websocket of the editor', () => {
  /** @type {string} */
  let folder
  /** @type {ReturnType<typeof sluice>|null} */
  let gateway
  /** @type {string} */
  let url
  /** @type {WebSocket[]} */
  let sockets

  beforeEach(async () => {
    sockets = []
    folder = await mkdtemp(join(tmpdir(), 'sluice-comms-'))
    await writeFile(join(folder, 'flow.json'), JSON.stringify(FLOW))
    await writeFile(join(folder, 'users'), 'wallboard:view:battery: staple\n')
  })
  afterEach(async () => {
    for (const socket of sockets) socket.terminate()
    gateway?.child.kill('SIGKILL')
    await gateway?.exit
    gateway = null
    await rm(folder, { recursive: true })
  })

  /** @param {string[]} more */
  async function start (...more) {
    gateway = sluice('start', '--user-dir', join(folder, 'user'), '--flows', join(folder, 'flow.json'), '--port', '0', ...more)
    url = (await gateway.says(/Editor +(http:\S+)\/[^]*Ctrl-C/))[1]
  }

  const withLogin = () => start('--login-file', join(folder, 'users'))

  async function open () {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/comms`)
    socket.on('error', () => {})
    sockets.push(socket)
    await once(socket, 'open')
    return socket
  }

  async function token () {
    const body = JSON.stringify({
      client_id: 'node-red-editor', grant_type: 'password', scope: '', username: 'wallboard', password: 'battery: staple'
    })
    const answer = await fetch(`${url}/auth/token`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await answer.json()).access_token
  }

  async function openAsViewer (access = token()) {
    const socket = await open()
    socket.send(JSON.stringify({ auth: await access }))
    const [answer] = await once(socket, 'message')
    expect(String(answer)).to.equal('{"auth":"ok"}')
    return socket
  }

  /** Sends it, and expects that this ends the connection, and nothing else. @param {WebSocket} socket @param {string} text */
  async function expectEnd (socket, text) {
    const closed = once(socket, 'close')
    socket.send(text)
    await closed
    const health = await fetch(`${url}/sluice/health`)
    expect(health.status, text).to.equal(200)
  }

  it('ended the gateway at the four bytes null, sent before any login', async () => {
    await withLogin()
    for (const text of ['null', '5', '"x"', '{"auth":{}}', '{"subscribe":"a{2,1}"}']) await expectEnd(await open(), text)
  })

  it('ended the gateway at what a viewer sends that the editor does not', async () => {
    await withLogin()
    const access = await token()
    for (const message of ['null', '{"subscribe":5}', '{"subscribe":"a{2,1}"}', '{"subscribe":"++++++++++++++++++++!"}',
      '{"topic":"multiplayer/connect"}']) await expectEnd(await openAsViewer(access), message)
    const editor = await openAsViewer(access)
    editor.send('{"topic":"multiplayer/connect","data":{"session":"abc"}}')
    expect(String(await once(editor, 'message'))).to.contain('multiplayer/')
  })

  it('ended the gateway at such messages where nobody has to log in', async () => {
    await start()
    for (const text of ['null', '{"auth":"x"}', '{"subscribe":5}', '{"topic":"multiplayer/connect"}']) await expectEnd(await open(), text)
  })
})
