import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import mqtt from 'mqtt'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { decodePayload } from '../../gateway/sparkplug/codec.js'
import broker from '../../nodes/staging/broker.js'
import embeddedBroker from '../../nodes/staging/embedded-broker.js'
import sparkplugWrite from '../../nodes/staging/sparkplug-write.js'
import { freePort } from '../servers/ports.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('The Sparkplug write node', function () {
  this.timeout(20_000)

  /** @type {string} */
  let userDir
  /** @type {mqtt.MqttClient|undefined} */
  let device

  before(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-sparkplug-write-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(async () => {
    await device?.endAsync(true)
    device = undefined
    await helper.unload()
  })

  /** @param {object} [options] @param {boolean} [hasBroker] */
  async function load (options, hasBroker = true) {
    const port = await freePort()
    await helper.load([broker, embeddedBroker, sparkplugWrite], [
      ...hasBroker ? [{ id: 'embedded', type: 'sluice-embedded-broker', port }] : [],
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      {
        id: 'write', type: 'sluice-sparkplug-write', broker: 'broker', groupId: 'plant', nodeId: 'line', deviceId: 'press', allowed: true,
        metrics: [{ name: 'setpoint', max: 80 }], wires: [['out']], ...options
      },
      { id: 'out', type: 'helper' }
    ])
    return port
  }

  /** Sends a message and resolves to what comes out, or to the text of the error. @param {unknown} payload */
  const written = payload => new Promise(resolve => {
    const node = helper.getNode('write')
    helper.getNode('out').on('input', (/** @type {any} */ message) => resolve(message.payload))
    node.once('call:error', (/** @type {any} */ call) => resolve(call.args[0]))
    node.receive({ payload })
  })

  /** Sends it until the node is connected. @param {unknown} payload */
  async function writtenAtLast (payload) {
    for (;;) {
      const result = await written(payload)
      if (!String(result).includes('Nothing was sent')) return result
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  it('sends a device the values of a message, and the message on', async () => {
    const port = await load()
    device = mqtt.connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 20 })
    await device.subscribeAsync('spBv1.0/plant/DCMD/line/+')
    const received = new Promise(resolve => device?.once('message', (topic, payload, { qos, retain }) => {
      const [{ name, value }] = decodePayload(payload).metrics
      resolve({ topic, qos, retain, name, value: value.value })
    }))
    expect(await writtenAtLast({ setpoint: 21.5 })).to.deep.equal({ setpoint: 21.5 })
    expect(await received).to.deep.equal({ topic: 'spBv1.0/plant/DCMD/line/press', qos: 0, retain: false, name: 'setpoint', value: 21.5 })
  })

  it('reports what it may not write, and a broker that is away', async () => {
    await load({}, false)
    expect(await written({ setpoint: 500 })).to.match(/^SLUICE_SPARKPLUG_WRITE: "setpoint" must be at most 80/)
    expect(await written({ setpoint: 5 })).to.match(/^SLUICE_SPARKPLUG_WRITE: Nothing was sent/)
  })

  it('writes nothing until it is allowed', async () => {
    await load({ allowed: false }, false)
    expect(await written({ setpoint: 5 })).to.match(/^SLUICE_SPARKPLUG_WRITE_OFF/)
  })
})
