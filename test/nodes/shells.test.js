import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { Batch } from '../../gateway/batch/batch.js'
import { backpressure } from '../../gateway/flow/backpressure.js'
import { stats } from '../../gateway/stats/stats.js'
import { defineNode } from '../../nodes/node.js'
import broker from '../../nodes/staging/broker.js'
import candump from '../../nodes/sources/candump.js'
import embeddedBroker from '../../nodes/staging/embedded-broker.js'
import simulator from '../../nodes/sources/simulator.js'
import { until } from '../broker/waiting.js'
import { isSound } from './sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('node shells', () => {
  /** @type {string} */
  let userDir
  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(() => helper.unload())

  describe('simulator', () => {
    const machine = { id: 'machine', type: 'sluice-simulator', name: 'press', sampleRateHz: '500', wires: [['out']] }
    const out = { id: 'out', type: 'helper' }

    it('sends batches named after the source, and says where they come from', async () => {
      await helper.load(simulator, [machine, out])
      const message = await next(helper.getNode('out'))
      expect(message.payload).to.be.instanceOf(Batch)
      expect(message.payload.source).to.equal('press')
      expect(message).to.include({ topic: 'press', sluiceSource: 'machine' })
    })

    it('shows its rate', async () => {
      await helper.load(simulator, [machine])
      expect(await statusLike(helper.getNode('machine'), /rows\/s/)).to.include({ fill: 'green', shape: 'dot' })
    })

    it('shows that it is paused', async () => {
      backpressure.pause('machine', 'a full spool')
      try {
        await helper.load(simulator, [machine])
        expect(await statusLike(helper.getNode('machine'), /paused/)).to.include({ fill: 'yellow' })
      } finally {
        backpressure.resume('machine', 'a full spool')
      }
    })

    it('waits for a message where it does not start at once, and stops on one', async () => {
      await helper.load(simulator, [{ ...machine, autostart: false }, out])
      const node = helper.getNode('machine')
      await statusLike(node, /stopped/)
      const first = next(helper.getNode('out'))
      node.receive({ payload: 'start' })
      await first
      node.receive({ payload: false })
      await statusLike(node, /stopped/)
      const none = Promise.race([next(helper.getNode('out')).then(() => 'another'), sleep(100, 'none')])
      expect(await none).to.equal('none')
    })

    it('does not warn of a leak of listeners when there are more than ten', async () => {
      /** @type {Error[]} */
      const warnings = []
      const onWarning = (/** @type {Error} */ warning) => { warnings.push(warning) }
      process.on('warning', onWarning)
      try {
        await helper.load(simulator, Array.from({ length: 12 }, (_, i) => ({ ...machine, id: `machine${i}`, autostart: false, wires: [] })))
        await new Promise(resolve => setImmediate(resolve))
        expect(warnings.map(({ name }) => name)).to.deep.equal([])
      } finally {
        process.off('warning', onWarning)
      }
    })

    it('ends by itself and says so', async () => {
      await helper.load(simulator, [{ ...machine, sampleRateHz: 10_000, maxSamples: 1000 }])
      await statusLike(helper.getNode('machine'), /^finished, 1,000 rows$/)
    })

    it('refuses a message it does not understand', async () => {
      await helper.load(simulator, [machine])
      const node = helper.getNode('machine')
      const told = once(node, 'call:error')
      node.receive({ payload: 'faster' })
      expect((await told)[0].args[0]).to.match(/SLUICE_SOURCE_COMMAND: Cannot do "faster"/)
    })

    it('is told among the gauges to be missing as long as it cannot start', async () => {
      await helper.load(simulator, [{ ...machine, sampleRateHz: '-1' }, out])
      const name = 'failed press (machine)'
      await until(() => name in stats.readGauges())
      expect(stats.readGauges()[name]).to.include({ connected: false }).and.to.have.property('problem').that.contains('SLUICE_OPTIONS')
      await helper.unload()
      expect(stats.readGauges()).to.not.have.property(name)
    })

    it('is told no more that cannot start once it is closed, which may be before', async () => {
      /** @type {(reason: Error) => void} */
      let refuse = () => {}
      const late = (/** @type {any} */ RED) => defineNode(RED, 'late', { type: 'object', properties: {} }, () => {
        return new Promise((_, reject) => { refuse = reject })
      })
      await helper.load(late, [{ id: 'slow', type: 'late' }])
      await helper.unload()
      refuse(new Error('It took too long.'))
      await new Promise(setImmediate)
      expect(Object.keys(stats.readGauges()).filter(name => name.startsWith('failed'))).to.deep.equal([])
    })

    it('says which option is wrong, and does nothing else', async () => {
      await helper.load(simulator, [{ ...machine, sampleRateHz: 'fast' }, out])
      const node = helper.getNode('machine')
      const words = 'Sample rate must be between 0.001 and 100,000 Hz; "fast" is not a number.'
      expect(statuses(node)).to.deep.include({ fill: 'red', shape: 'ring', text: 'settings invalid, see the form' })
      expect(node.error.firstCall.args[0]).to.equal(`SLUICE_OPTIONS: ${words}`)
    })
  })

  describe('candump replay', () => {
    it('plays the example log of the package, as fast as possible', async () => {
      await helper.load(candump, [
        { id: 'replay', type: 'sluice-candump', name: 'boat', speed: 0, wires: [['out']] },
        { id: 'out', type: 'helper' }
      ])
      const { topic, payload } = await next(helper.getNode('out'))
      expect(topic).to.match(/^boat\./)
      expect(payload.fields.map((/** @type {{name: string}} */ field) => field.name)).to.include('address')
      await statusLike(helper.getNode('replay'), /^finished, [\d,]+ rows$/)
    })

    it('says which file is missing', async () => {
      await helper.load(candump, [{ id: 'replay', type: 'sluice-candump', logFile: 'nowhere.log' }])
      const node = helper.getNode('replay')
      expect(await statusLike(node, /^the CAN log cannot be read$/)).to.include({ fill: 'red' })
      await until(() => node.error.callCount > 0)
      expect(node.error.firstCall.args[0]).to.match(/^SLUICE_REPLAY_FILE: .*nowhere\.log/)
    })
  })

  describe('embedded broker', () => {
    it('shows its address and its clients', async () => {
      await helper.load(embeddedBroker, [{ id: 'embedded', type: 'sluice-embedded-broker', port: '0' }])
      await statusLike(helper.getNode('embedded'), /^127\.0\.0\.1:\d+, 0 clients$/)
    })

    it('says that its port is taken', async () => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      try {
        const { port } = /** @type {import('node:net').AddressInfo} */ (other.address())
        await helper.load(embeddedBroker, [{ id: 'embedded', type: 'sluice-embedded-broker', port }])
        const node = helper.getNode('embedded')
        expect(await statusLike(node, /^broker's port cannot be opened$/)).to.include({ fill: 'red' })
        expect(node.error.firstCall.args[0]).to.match(new RegExp(`^SLUICE_BROKER_PORT: .*:${port}.*another port`))
      } finally {
        other.close()
      }
    })
  })

  describe('broker', () => {
    it('holds the options of a connection, the secret ones too', async () => {
      await helper.load(broker, [{ id: 'broker', type: 'sluice-broker', url: 'mqtts://plant:8883' }], { broker: { user: 'gateway', password: 'open sesame' } })
      expect(helper.getNode('broker').options).to.include({ url: 'mqtts://plant:8883', user: 'gateway', password: 'open sesame', protocolVersion: 'auto' })
    })

    it('has none where they are wrong', async () => {
      await helper.load(broker, [{ id: 'broker', type: 'sluice-broker', url: 'plant' }])
      const node = helper.getNode('broker')
      expect(node.options).to.equal(undefined)
      expect(node.error.firstCall.args[0]).to.match(/Address must look like mqtt:\/\/127\.0\.0\.1:1883; "plant" does not\./)
    })
  })
})

/** @param {any} node @returns {Promise<any>} the next message it gets */
function next (node) {
  return new Promise(resolve => node.once('input', resolve))
}

/** @param {any} node @returns {any[]} the statuses it has shown */
function statuses (node) {
  return node.status.getCalls().map((/** @type {any} */ call) => call.args[0])
}

/** @param {any} node @param {RegExp} text @returns {Promise<any>} the first status from now on, or the last so far, of such a text */
async function statusLike (node, text) {
  const last = statuses(node).at(-1)
  if (text.test(last?.text)) return last
  for (;;) {
    const [call] = await once(node, 'call:status')
    isSound(call.args[0])
    if (text.test(call.args[0].text)) return call.args[0]
  }
}
