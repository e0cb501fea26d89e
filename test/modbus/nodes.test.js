import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { compileValue } from '../../gateway/modbus/values.js'
import deviceNode from '../../nodes/modbus/device.js'
import { SharedDevice } from '../../nodes/modbus/lease.js'
import readNode from '../../nodes/modbus/read.js'
import simulatorNode from '../../nodes/modbus/simulator.js'
import { serveTries } from '../../nodes/modbus/try.js'
import writeNode from '../../nodes/modbus/write.js'
import { freePort } from '../servers/ports.js'
import { startPymodbus } from '../servers/pymodbus.js'
import { requirePython } from '../servers/python.js'
import { startFakeSlaves } from './wire-fake-slaves.js'
import { isSound } from '../nodes/sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

const NODES = [deviceNode, readNode, writeNode, simulatorNode]

describe('Modbus nodes, with a pymodbus server', () => {
  /** @type {string} */
  let userDir
  /** @type {import('../servers/modbus-server.js').ModbusServer} */
  let server

  before(async function () {
    requirePython(this)
    const pi = [...compileValue({ type: 'float32', order: 'CDAB' }).encode(3.140625)]
    server = await startPymodbus({
      transport: 'tcp',
      contents: { 'holding-registers': [...pi, 7, ...Array(40).fill(0)], coils: [1, 0, 0, 0] }
    })
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-modbus-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })

  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await server?.kill()
    if (userDir) await rm(userDir, { recursive: true })
  })

  afterEach(() => helper.unload())

  const out = { id: 'out', type: 'helper' }
  const device = (/** @type {object} */ options = {}) => ({
    id: 'device',
    type: 'sluice-modbus-device',
    name: 'meter',
    port: server.port,
    order: 'CDAB',
    ...options
  })
  const TAGS = [
    { name: 'pi', address: '0', type: 'float32' },
    { name: 'seven', address: '2', type: 'uint16' },
    { name: 'far', address: '40', type: 'uint16' }
  ]
  const reader = {
    id: 'read',
    type: 'sluice-modbus-read',
    name: 'plant',
    device: 'device',
    tags: TAGS,
    groups: [{ name: 'default', periodMs: '50' }],
    batchMs: 0,
    wires: [['out']]
  }
  const writer = {
    id: 'write',
    type: 'sluice-modbus-write',
    device: 'device',
    allowed: true,
    tags: [{ name: 'setpoint', address: '10', type: 'float32', max: '80' }],
    wires: [['out']]
  }

  describe('read', () => {
    it('sends batches in the byte order of their device', async () => {
      await helper.load(NODES, [device(), reader, out])
      const { topic, payload } = await next(helper.getNode('out'))
      expect(topic).to.equal('plant')
      expect(payload.tags).to.deep.equal({ device: 'meter' })
      const [{ time, ...values }] = payload.toObjects()
      expect(values).to.deep.equal({ pi: 3.140625, seven: 7, far: 0 })
      expect(Number(time / 1_000_000n)).to.be.closeTo(Date.now(), 60_000)
    })

    it('sends as many requests as planned, counted on the wire', async () => {
      const before = await server.requests()
      await helper.load(NODES, [device(), { ...reader, groups: [{ name: 'default', periodMs: 10 }] }, out])
      let polls = 0
      const node = helper.getNode('out')
      node.on('input', () => { polls++ })
      while (polls < 5) await next(node)
      await helper.unload()
      const requests = await server.requests() - before
      // Two a poll: registers 0 to 2, and 40, which is beyond the gap allowed. The last poll may have been cut short.
      expect(requests).to.be.within(2 * polls, 2 * polls + 2)
    })

    it('shows that it cannot reach its device', async () => {
      await helper.load(NODES, [device({ port: 1 }), reader])
      expect(await statusLike(helper.getNode('read'), /disconnected, no answer so far/)).to.include({ fill: 'red' })
    })

    it('reports a missing device', async () => {
      await helper.load(NODES, [reader])
      expect(await statusLike(helper.getNode('read'), /^no Modbus device chosen$/)).to.include({ fill: 'red' })
    })

    it('reports which row of its table is wrong', async () => {
      await helper.load(NODES, [device(), { ...reader, tags: [TAGS[0], { name: 'x', address: '0', type: 'bool' }] }])
      await statusLike(helper.getNode('read'), /^settings invalid, see the form$/)
      expect(helper.getNode('read').error.firstCall.args[0]).to.match(/Tags, row 2: Type bool is for coils and discrete inputs/)
    })
  })

  describe('write', () => {
    it('writes, confirms and shows it', async () => {
      await helper.load(NODES, [device(), writer, out])
      const answer = next(helper.getNode('out'))
      helper.getNode('write').receive({ payload: { setpoint: 20.5 }, topic: 'oven' })
      expect(await answer).to.deep.include({ topic: 'oven', payload: { setpoint: { written: 20.5, readBack: 20.5, ok: true } } })
      await statusLike(helper.getNode('write'), /^written and confirmed: setpoint$/)
    })

    it('shows that it is ready, instead of the fault before the deploy', async () => {
      await helper.load(NODES, [device(), writer, out])
      await statusLike(helper.getNode('write'), /^nothing written yet$/)
    })

    it('passes what it refuses to the catch nodes', async () => {
      await helper.load(NODES, [device(), writer, out])
      const node = helper.getNode('write')
      const told = once(node, 'call:error')
      node.receive({ payload: { setpoint: 81 } })
      expect((await told)[0].args[0]).to.match(/SLUICE_MODBUS_WRITE: "setpoint" must be at most 80/)
      await statusLike(node, /^message cannot be written$/)
    })

    it('writes nothing unless it is allowed', async () => {
      await helper.load(NODES, [device(), { ...writer, allowed: undefined }, out])
      const node = helper.getNode('write')
      await statusLike(node, /^writing is not allowed$/)
      const told = once(node, 'call:error')
      node.receive({ payload: { setpoint: 1 } })
      expect((await told)[0].args[0]).to.match(/SLUICE_MODBUS_WRITE_OFF/)
    })
  })

  describe('try', () => {
    /** @param {object} body @returns {Promise<any>} */
    const ask = async body => (await helper.request().post('/sluice-modbus/try').send(body).expect(200)).body

    beforeEach(() => helper.load(NODES, [device()]))

    it('shows registers in all types and orders', async () => {
      const { ok, registers, values } = await ask({ device: 'device', area: 'holding-registers', address: '0' })
      expect(ok).to.equal(true)
      expect(registers).to.deep.equal(['0x0000', '0x4049', '0x0007', '0x0000'])
      expect(values.find((/** @type {any} */ { type }) => type === 'float32')).to.include({ CDAB: '3.140625' })
      expect(values.map((/** @type {any} */ { type }) => type)).to.include('float64')
    })

    it('shows fewer where no more exist', async () => {
      const { registers } = await ask({ device: 'device', area: 'holding-registers', address: '42' })
      expect(registers).to.have.length(1)
    })

    it('shows bits, and understands data sheet addresses', async () => {
      expect(await ask({ device: 'device', area: 'coils', address: '00001', addressing: 'data-sheet' })).to.deep.equal({
        ok: true,
        bits: [1, 0, 0, 0]
      })
    })

    it('reads a device as the form has it, deployed or not', async () => {
      const options = { connection: 'tcp', host: '127.0.0.1', port: String(server.port), unit: '1' }
      for (const id of ['device', 'new']) {
        const { registers } = await ask({ device: { id, options }, area: 'holding-registers', address: '2', count: 1 })
        expect(registers).to.deep.equal(['0x0007'])
      }
      const wrong = await ask({ device: { id: 'device', options: { ...options, port: '70000' } }, area: 'coils', address: '0' })
      expect(wrong.text).to.match(/^Port must be between/)
    })

    it('does not wait for ever, whatever the timeout of the device', async () => {
      const mute = await startFakeSlaves({}, () => {})
      const shared = new SharedDevice({ port: mute.port, timeoutMs: 60_000 }, { name: 'mute', log: /** @type {any} */ (undefined) })
      const answer = await tryOnce(shared, { device: 'mute', area: 'coils', address: '0' }, { timeLimitMs: 100 })
      expect(answer).to.deep.equal({ ok: false, text: 'There was no answer within 0.1 s.' })
      await mute.close()
    })

    it('does not delay a deploy', async () => {
      const asked = Promise.withResolvers()
      const mute = await startFakeSlaves({}, asked.resolve)
      const shared = new SharedDevice({ port: mute.port, timeoutMs: 60_000 }, { name: 'mute', log: /** @type {any} */ (undefined) })
      const answer = tryOnce(shared, { device: 'mute', area: 'coils', address: '0' }, { timeLimitMs: 60_000 })
      await asked.promise
      await shared.close()
      expect(await answer).to.deep.equal({ ok: false, text: 'The device was deployed again.' })
      await mute.close()
    })

    it('requires the permission to deploy', async () => {
      const asked = /** @type {string[]} */ ([])
      const auth = { needsPermission: (/** @type {string} */ permission) => asked.push(permission) }
      serveTries({ httpAdmin: { post () {} }, auth, settings: {} })
      expect(asked).to.deep.equal(['flows.write'])
    })

    it('reports what is wrong', async () => {
      const cases = /** @type {[object, RegExp][]} */ ([
        [{ device: 'none', area: 'coils', address: '0' }, /Choose one in the form, and deploy/],
        [{ device: 'device', area: 'coils', address: 'x' }, /The address must be a whole number/],
        [{ device: 'device', area: 'files', address: '0' }, /no area "files"/],
        [{ device: 'device', area: 'coils', address: '0', count: 1000 }, /1 to 125/],
        [{ device: 'device', area: 'holding-registers', address: '1000' }, /exception 2/],
        [{}, /no area/]
      ])
      for (const [body, text] of cases) {
        const answer = await ask(body)
        expect(answer.ok, JSON.stringify(body)).to.equal(false)
        expect(answer.text).to.match(text)
      }
    })
  })

  describe('an example', () => {
    it('reads a simulated device in two groups', async () => {
      await helper.load(NODES, await example('modbus-read'))
      const node = helper.getNode('example-modbus-read-batches')
      const fields = new Map()
      while (fields.size < 2) {
        const { topic, payload } = await next(node)
        fields.set(topic, payload.fields.map((/** @type {{name: string}} */ { name }) => name))
      }
      expect(fields.get('plant.fast')).to.include.members(['parts', 'temperature', 'vibration'])
      expect(fields.get('plant.slow')).to.include.members(['uptime', 'running', 'door'])
    })

    it('writes to a simulated device', async () => {
      await helper.load(NODES, await example('modbus-write'))
      const answer = next(helper.getNode('example-modbus-write-confirmed'))
      const node = helper.getNode('example-modbus-write-write')
      const press = () => node.receive({ payload: { setpoint: 21.5, on: true } })
      node.on('call:error', () => setTimeout(press, 20)) // the simulator may not listen yet
      press()
      expect((await answer).payload).to.deep.equal({
        setpoint: { written: 21.5, readBack: 21.5, ok: true },
        on: { written: true, readBack: true, ok: true }
      })
    })
  })
})

/** Its nodes, on a port that is free, with ears in the place of debug nodes. @param {string} name */
async function example (name) {
  const port = await freePort()
  const nodes = /** @type {any[]} */ (JSON.parse(await readFile(new URL(`../../examples/2 Sources/${name}.json`, import.meta.url), 'utf8')))
  return nodes
    .filter(({ type }) => type === 'debug' || type.startsWith('sluice-'))
    .map(node => ({ ...node, type: node.type === 'debug' ? 'helper' : node.type, ...('port' in node && { port }) }))
}

/** What the endpoint answers, without HTTP. @param {SharedDevice} shared @param {object} body @param {{timeLimitMs: number}} options */
function tryOnce (shared, body, options) {
  return new Promise(resolve => {
    const post = (/** @type {string} */ _path, /** @type {Function[]} */ ...handlers) =>
      handlers.at(-1)?.({ body }, { on () {}, json: resolve })
    const nodes = { getNode: () => ({ type: 'sluice-modbus-device', shared }) }
    serveTries({ httpAdmin: { post }, auth: { needsPermission () {} }, settings: {}, nodes }, options)
  })
}

/** @param {any} node @returns {Promise<any>} the next message it gets */
function next (node) {
  return new Promise(resolve => node.once('input', resolve))
}

/** @param {any} node @param {RegExp} text @returns {Promise<any>} the first status from now on, or the last so far, of such a text */
async function statusLike (node, text) {
  const last = node.status.getCalls().at(-1)?.args[0]
  if (text.test(last?.text)) return last
  for (;;) {
    const [call] = await once(node, 'call:status')
    isSound(call.args[0])
    if (text.test(call.args[0].text)) return call.args[0]
  }
}
