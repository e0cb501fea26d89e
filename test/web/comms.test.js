import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket, WebSocketServer } from 'ws'
import { guardComms } from '../../gateway/web/comms.js'
import { WaitingRoom } from '../../gateway/web/waiting-room.js'
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
    while ((await fetch(`${url}/sluice/health`)).status !== 200); // the flows are starting
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
  it('took messages of 100 MB into memory before any login', async () => {
    await withLogin()
    const socket = await open()
    const closed = once(socket, 'close')
    socket.send(JSON.stringify({ auth: 'x'.repeat(2 ** 16) }))
    expect((await closed)[0]).to.equal(1009) // "too big": it was not read
    await openAsViewer()
  })

  it('kept all sockets that never log in, and their places from nobody who does', async () => {
    await withLogin()
    const access = await token()
    const viewer = await openAsViewer(access)
    const idle = await Promise.all(Array.from({ length: 100 }, open))
    const oldestClosed = once(idle[0], 'close')
    await openAsViewer(access)
    await oldestClosed
    expect(viewer.readyState).to.equal(WebSocket.OPEN)
  })
})

describe('Those that have not logged in', () => {
  /** @type {string[]} */
  let ended

  beforeEach(() => { ended = [] })

  it('took the places of others: now the oldest of the address with the most has to go', () => {
    const room = new WaitingRoom({ places: 4, patienceMs: 60_000 })
    const enter = (/** @type {string} */ name) => room.enter(name[0], () => ended.push(name))
    enter('b1')
    const leaves = ['a1', 'a2', 'a3'].map(enter)
    expect(ended).to.deep.equal([])
    enter('c1')
    expect(ended).to.deep.equal(['a1'])
    for (const leave of leaves) leave()
    enter('b2')
    enter('b3')
    expect(ended).to.deep.equal(['a1'])
    enter('b4')
    expect(ended).to.deep.equal(['a1', 'b1'])
    for (const name of ['d1', 'e1']) enter(name)
    expect(ended).to.deep.equal(['a1', 'b1', 'b2', 'b3'])
  })

  it('stayed for ever: now they go after a time, and who has logged in stays', async () => {
    class Sockets extends WebSocketServer {}
    /** @type {any} */
    const comms = { addConnection: async () => {}, subscribe: async () => {}, receive: async () => {} }
    guardComms(Sockets, comms, 20)
    const sockets = new Sockets({ noServer: true })
    const server = createServer().on('upgrade', (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, ws => { if (request.url === '/comms?in') comms.addConnection({ client: { ws } }) })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const paths = ['/comms?in', '/flow/comms', '/comms', '/comms?x']
    const clients = paths.map(path => new WebSocket(`ws://127.0.0.1:${port}${path}`))
    await Promise.all(clients.slice(2).map(client => once(client, 'close')))
    expect(clients.slice(0, 2).map(client => client.readyState)).to.deep.equal([WebSocket.OPEN, WebSocket.OPEN])
    for (const client of clients) client.terminate()
    server.close()
  })
})
