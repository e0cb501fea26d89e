import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { stats } from '../../../gateway/stats/stats.js'
import simulator from '../../../nodes/modbus/simulator.js'
import { freePort } from '../../servers/ports.js'
import { ask, connectTo, READ_TWO } from './rig.js'
import { isSound } from '../../nodes/sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('the Modbus simulator node', () => {
  const plant = { id: 'simulator', type: 'sluice-modbus-simulator', name: 'plant', units: '1-3', wires: [['out']] }
  const out = { id: 'out', type: 'helper' }
  /** @type {number} */
  let port
  /** @type {string} */
  let userDir
  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-modbus-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  beforeEach(async () => { port = await freePort() })
  afterEach(() => helper.unload())

  /** @param {object[]} flow */
  const load = async flow => {
    await helper.load(simulator, flow)
    const node = helper.getNode('simulator')
    await statusLike(node, /masters?\b/)
    return node
  }

  it('shows where it listens, who is there and what may go wrong', async () => {
    const node = await load([{ ...plant, port, faults: [{ fault: 'delay', percent: 10 }] }])
    await connectTo(/** @type {any} */ ({ port }))
    const { fill, text } = await statusLike(node, /1 master$/)
    expect(text).to.equal(`delay 10 %, 127.0.0.1:${port}, 1 master`)
    expect(fill).to.equal('yellow')
  })

  it('sends what masters write', async () => {
    await load([{ ...plant, port }, out])
    const written = once(helper.getNode('out'), 'input')
    await ask(await connectTo(/** @type {any} */ ({ port })), Buffer.from('00010000000902100064000102002a', 'hex'))
    const [{ topic, payload }] = await written
    expect({ topic, payload }).to.deep.equal({ topic: 'holding-registers', payload: { unit: 2, address: 100, values: [42] } })
  })

  it('fails as a message says, and reports how often', async () => {
    const node = await load([{ ...plant, port }])
    const socket = await connectTo(/** @type {any} */ ({ port }))
    node.receive({ payload: { fault: 'exception', unit: 3, exception: 6 } })
    await statusLike(node, /^exception of 3,/)
    expect((await ask(socket, READ_TWO(3))).subarray(7)).to.deep.equal(Buffer.of(0x83, 6))
    expect((await ask(socket, READ_TWO(1)))[7]).to.equal(3)
    expect(stats.readGauges()['modbus simulator plant']).to.include({ masters: 1, requests: 2, 'function 3': 2, exception: 1 })
  })

  it('refuses a message it does not understand', async () => {
    const node = await load([{ ...plant, port }])
    const told = once(node, 'call:error')
    node.receive({ payload: 'fire' })
    expect((await told)[0].args[0]).to.match(/SLUICE_MODBUS_FAULT: A fault is an object/)
  })

  it('says that its port is taken', async () => {
    await load([{ ...plant, port }, { ...plant, id: 'second', port }])
    expect(await statusLike(helper.getNode('second'), /^port or line cannot be opened$/)).to.include({ fill: 'red' })
    expect(helper.getNode('second').error.firstCall.args[0]).to.match(/another port/)
  })

  it('frees its port when it is closed', async () => {
    await load([{ ...plant, port }])
    await helper.unload()
    await load([{ ...plant, port }])
  })

  it('runs its example, which shows three units that answer', async () => {
    const flow = JSON.parse(await readFile('examples/2 Sources/modbus-simulator.json', 'utf8'))
    const { units, registers } = flow.find((/** @type {{type: string}} */ { type }) => type === 'sluice-modbus-simulator')
    await load([{ ...plant, port, units, registers, wires: [[]] }])
    const socket = await connectTo(/** @type {any} */ ({ port }))
    for (const unit of [1, 2, 3]) expect((await ask(socket, READ_TWO(unit)))[6]).to.equal(unit)
  })
})

/** @param {any} node @param {RegExp} text @returns {Promise<any>} the first status of such a text */
async function statusLike (node, text) {
  const calls = () => node.status.getCalls().map((/** @type {any} */ call) => call.args[0])
  for (;;) {
    const found = calls().find((/** @type {any} */ status) => text.test(status.text))
    for (const status of calls()) isSound(status)
    if (found) return found
    await once(node, 'call:status')
  }
}
