import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import mqtt from 'mqtt-packet'
import { sluice } from './process.js'

describe('Gateway: its first flow, and secrets from files', () => {
  /** @type {string} */
  let folder
  /** @type {import('node:net').Server} in place of a broker: it only reads who wants to log in */
  let listener
  /** @type {ReturnType<typeof sluice>|undefined} */
  let gateway

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-first-flow-'))
    listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
  })

  afterEach(async () => {
    gateway?.child.kill('SIGKILL')
    await gateway?.exit
    gateway = undefined
    listener.close()
    await rm(folder, { recursive: true })
  })

  /** @param {string[]} more @returns {ReturnType<typeof sluice>} */
  function start (...more) {
    gateway = sluice('start', '--user-dir', join(folder, 'user'), '--port', '0', ...more)
    return gateway
  }

  /** @param {unknown} content */
  async function firstFlow (content) {
    const file = join(folder, 'first.json')
    await writeFile(file, JSON.stringify(content))
    return file
  }

  async function loginAtBroker () {
    const [socket] = await once(listener, 'connection')
    const parser = mqtt.parser()
    socket.on('data', (/** @type {Buffer} */ data) => parser.parse(data))
    const [packet] = /** @type {any[]} */ (await once(parser, 'packet'))
    socket.destroy()
    return { user: packet.username, password: String(packet.password) }
  }

  it('logs in with a password from a file, which its flow only names', async () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address())
    const flow = [
      { id: 'tab', type: 'tab', label: 'first' },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', broker: 'mosquitto', wires: [] },
      { id: 'mosquitto', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}`, credentials: { user: 'plant', password: '${BROKER_PASSWORD}' } }
    ]
    const secrets = join(folder, 'secrets')
    await mkdir(secrets)
    await writeFile(join(secrets, 'BROKER_PASSWORD'), 'vier Nüsse\n')
    const login = loginAtBroker()
    start('--first-flow', await firstFlow(flow), '--secrets', secrets)
    expect(await login).to.deep.equal({ user: 'plant', password: 'vier Nüsse' })
    const written = await readFile(join(folder, 'user', 'flows.json'), 'utf8')
    expect(JSON.parse(written).map((/** @type {any} */ { id }) => id)).to.deep.equal(['tab', 'out', 'mosquitto'])
    expect(written).not.to.contain('credentials')
  })

  it('leaves a flow that is there alone', async () => {
    await mkdir(join(folder, 'user'))
    const own = '[{"id":"own","type":"tab","label":"own"}]'
    await writeFile(join(folder, 'user', 'flows.json'), own)
    await start('--first-flow', await firstFlow([{ id: 'first', type: 'tab', label: 'first' }])).says(/Ctrl-C/)
    expect(await readFile(join(folder, 'user', 'flows.json'), 'utf8')).to.equal(own)
  })

  for (const [wrong, content] of Object.entries({ 'is not a flow': { nodes: [] }, 'has a node without an id': [{ type: 'tab' }] })) {
    it(`refuses a first flow that ${wrong}, and begins with none`, async () => {
      const { code, stderr } = await start('--first-flow', await firstFlow(content)).exit
      expect(code).to.equal(1)
      expect(stderr).to.contain('SLUICE_FLOW_FILE: The first flow').and.contain('it is not a list of nodes')
      await readFile(join(folder, 'user', 'flows.json')).then(() => expect.fail('it was copied'), () => {})
    })
  }

  it('says which folder of secrets cannot be read', async () => {
    const { code, stderr } = await start('--secrets', join(folder, 'nowhere')).exit
    expect(code).to.equal(1)
    expect(stderr).to.contain('SLUICE_SECRETS: The secrets in').and.contain('nowhere')
  })
})
