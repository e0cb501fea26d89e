import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import mqtt from 'mqtt'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'
import { ALL_TOPICS } from '../../gateway/sparkplug/topic.js'
import broker from '../../nodes/staging/broker.js'
import embeddedBroker from '../../nodes/staging/embedded-broker.js'
import sparkplugOut from '../../nodes/staging/sparkplug-out.js'
import { freePort } from '../servers/ports.js'
import { isSound } from '../nodes/sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('The Sparkplug out node', function () {
  this.timeout(20_000)

  /** @type {string} */
  let userDir
  /** @type {mqtt.MqttClient|null} */
  let listener = null
  /** @type {any[]} */
  let flow

  before(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-sparkplug-node-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  beforeEach(async () => {
    const port = await freePort()
    flow = [
      { id: 'embedded', type: 'sluice-embedded-broker', port },
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      { id: 'edge', type: 'sluice-sparkplug-out', name: '', broker: 'broker', groupId: 'plant', nodeId: 'line' }
    ]
  })
  afterEach(async () => {
    await listener?.endAsync(true)
    listener = null
    await helper.unload()
  })

  const load = (/** @type {any[]} */ nodes = flow) => helper.load([broker, embeddedBroker, sparkplugOut], nodes)

  /** Loads the broker, listens at it, and then loads all: what a host makes of each message. */
  async function listen () {
    await load(flow.slice(0, 1))
    await statusLike('embedded', /^127\.0\.0\.1/)
    const client = await mqtt.connectAsync(flow[1].url, { reconnectPeriod: 20 })
    listener = client
    const host = new SparkplugHost({ requestRebirth: () => {} })
    /** @type {any[]} */
    const received = []
    let wake = () => {}
    client.on('message', (topic, payload) => {
      received.push({ type: topic.split('/')[2], ...host.receive(topic, payload) })
      wake()
    })
    await client.subscribeAsync(ALL_TOPICS)
    return async (/** @type {string} */ type) => {
      for (;;) {
        while (received.length > 0) {
          const message = received.shift()
          if (message.type === type) return message
        }
        await new Promise(resolve => { wake = () => resolve(undefined) })
      }
    }
  }

  it('publishes its batches as a device, and its death when it is closed', async () => {
    const next = await listen()
    await helper.setFlows(flow, 'nodes')
    await next('NBIRTH')
    helper.getNode('edge').receive({ topic: 'press', payload: { speed: 1.5 }, timestamp: 1_700_000_000_000 })
    const { batches: [birth] } = await next('DBIRTH')
    expect(birth).to.deep.include({ source: 'plant.line.press', tags: { group: 'plant', node: 'line', device: 'press' } })
    expect(birth.toObjects()).to.deep.equal([{ time: 1_700_000_000_000_000_000n, speed: 1.5 }])
    await statusLike('edge', /^1 device, 1 sent$/)
    await helper.setFlows(flow.slice(0, 2), 'nodes')
    expect((await next('NDEATH')).batches[0].toObjects()[0].quality).to.equal('offline')
  })

  it('reports a payload it cannot publish, and a missing broker', async () => {
    await load(flow.slice(1))
    const node = helper.getNode('edge')
    const told = once(node, 'call:error')
    node.receive({ topic: 'press', payload: { speed: NaN } })
    expect((await told)[0].args[0]).to.match(/SLUICE_PAYLOAD: Refused row 0: "speed" is NaN/)
    node.receive({ topic: 'press', payload: { speed: 1 } })
    await statusLike('edge', /^broker not reachable, 1 held, 1 refused$/)
  })

  it('refuses the edge node of another node', async () => {
    await load([...flow, { ...flow[2], id: 'second' }])
    expect(await statusLike('second', /^edge node exists twice$/)).to.include({ fill: 'red' })
    expect(helper.getNode('second').error.firstCall.args[0]).to.match(/already the edge node plant\/line/)
  })

  it('reports that it has no broker', async () => {
    await load([{ ...flow[2], broker: 'nowhere' }])
    expect(await statusLike('edge', /^no MQTT broker chosen$/)).to.include({ fill: 'red' })
    expect(helper.getNode('edge').error.firstCall.args[0]).to.match(/broker of this node is missing/)
  })
})

/** @param {string} id @param {RegExp} text @returns {Promise<any>} the first status from now on, or the last so far, of such a text */
async function statusLike (id, text) {
  const node = helper.getNode(id)
  const last = node.status.getCalls().at(-1)?.args[0]
  if (text.test(last?.text)) return last
  for (;;) {
    const [call] = await once(node, 'call:status')
    isSound(call.args[0])
    if (text.test(call.args[0].text)) return call.args[0]
  }
}
