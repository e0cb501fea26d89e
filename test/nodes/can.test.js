import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { stats } from '../../gateway/stats/stats.js'
import busNode from '../../nodes/can/bus.js'
import { serveDbcChecks } from '../../nodes/can/dbc.js'
import decodeNode from '../../nodes/can/decode.js'
import { SharedBus } from '../../nodes/can/lease.js'
import readNode from '../../nodes/can/read.js'
import vehicleNode from '../../nodes/can/vehicle.js'
import writeNode from '../../nodes/can/write.js'
import { until } from '../broker/waiting.js'
import { quiet } from '../can/bus/rig.js'
import { isSound } from './sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

const NODES = [busNode, readNode, decodeNode, writeNode, vehicleNode]

describe('CAN nodes', () => {
  /** @type {string} */
  let userDir
  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-can-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(() => helper.unload())

  const out = { id: 'out', type: 'helper' }
  const desk = { id: 'bus', type: 'sluice-can-bus', name: 'desk', kind: 'virtual', channel: 'desk' }
  const log = { id: 'bus', type: 'sluice-can-bus', name: 'boat', kind: 'playback', loop: false, speed: 0 }
  const reader = { id: 'read', type: 'sluice-can-read', name: 'car', bus: 'bus', batchMs: 10, wires: [['out']] }
  const writer = { id: 'write', type: 'sluice-can-write', name: 'desk', bus: 'bus', dbcFile: 'data/vehicle.dbc', wires: [] }
  const decoder = { id: 'decode', type: 'sluice-can-decode', name: 'boat', dbcFile: 'data/nmea2000.dbc', wires: [['out']] }

  describe('read', () => {
    it('sends the signals of a vehicle on its bus', async () => {
      await helper.load(NODES, [desk, reader, { id: 'vehicle', type: 'sluice-vehicle', bus: 'bus', wires: [] }, out])
      const message = await nextLike(helper.getNode('out'), ({ topic }) => topic === 'car.Engine')
      expect(message.sluiceSource).to.equal('read')
      expect(message.payload.tags).to.deep.equal({ bus: 'desk' })
      expect(message.payload.toObjects()[0]).to.include({ enginerpm: 800, torque: 0 })
      expect(await statusLike(helper.getNode('vehicle'), /frames\/s/)).to.include({ fill: 'green' })
      expect(await statusLike(helper.getNode('read'), /rows\/s/)).to.include({ fill: 'green' })
      expect(stats.readGauges()).to.have.property('source car').that.includes({ state: 'error-active', unknownIds: 0 })
    })

    it('plays a log as a bus, to its end, and again when it is started again', async () => {
      await helper.load(NODES, [log, { ...reader, dbcFile: 'data/nmea2000.dbc' }, out])
      const node = helper.getNode('read')
      const { text } = await statusLike(node, /^finished, [\d,]+ rows$/)
      node.receive({ payload: 'start' })
      await nextLike(helper.getNode('out'), () => true)
      expect((await statusLike(node, /^finished/)).text).to.equal(text)
    })

    it('has two nodes hear one bus from its beginning', async () => {
      const frames = { ...reader, id: 'one', name: 'frames', mode: 'frames' }
      await helper.load(NODES, [log, frames, { ...frames, id: 'other', name: 'more' }, out])
      const finished = [await statusLike(helper.getNode('one'), /^finished/), await statusLike(helper.getNode('other'), /^finished/)]
      expect(finished.map(({ text }) => text)).to.deep.equal(['finished, 2,368 rows', 'finished, 2,368 rows'])
    })

    it('says that it has no bus, or one that cannot be', async () => {
      await helper.load(NODES, [{ ...reader, bus: '' }])
      expect(await statusLike(helper.getNode('read'), /^settings invalid, see the form$/)).to.include({ fill: 'red' })
      expect(helper.getNode('read').error.firstCall.args[0]).to.match(/Bus is missing/)
      await helper.unload()
      await helper.load(NODES, [{ ...log, logFile: 'nowhere.log' }, reader])
      expect(await statusLike(helper.getNode('read'), /^the CAN log cannot be read$/)).to.include({ fill: 'red' })
      await until(() => helper.getNode('read').error.callCount > 0)
      expect(helper.getNode('read').error.firstCall.args[0]).to.match(/nowhere\.log cannot be read/)
    })
  })

  describe('write', () => {
    it('sends what it is told to, and says what it has sent', async () => {
      await helper.load(NODES, [desk, reader, writer, out])
      const got = nextLike(helper.getNode('out'), ({ topic }) => topic === 'car.Door')
      await answered(helper.getNode('write'), { topic: 'Door', payload: { door: 'open' } })
      expect((await got).payload.toObjects()[0]).to.include({ door: 1 })
      await statusLike(helper.getNode('write'), /^1 frames sent$/)
    })

    it('has a catch node get what it refuses', async () => {
      await helper.load(NODES, [desk, writer])
      const node = helper.getNode('write')
      expect(await answered(node, { topic: 'Engine', payload: { enginerpm: 9000 } })).to.match(
        /^SLUICE_CAN_ENCODE: Signal enginerpm cannot be 9000/
      )
      expect(await statusLike(node, /^values do not fit the frame$/)).to.include({ fill: 'red' })
    })

    for (const type of ['write', 'vehicle']) {
      it(`leaves nothing behind where ${type} is stopped while its bus is being opened`, async () => {
        const gaugesBefore = Object.keys(stats.readGauges())
        await helper.load(NODES, [desk, { ...writer, id: 'node', type: `sluice-can-${type}`.replace('can-vehicle', 'vehicle') }])
        await helper.unload()
        expect(Object.keys(stats.readGauges())).to.deep.equal(gaugesBefore)
      })
    }

    it('sends nothing to a log', async () => {
      await helper.load(NODES, [log, { ...writer, dbcFile: '' }])
      expect(await answered(helper.getNode('write'), { payload: '123#00' })).to.match(/^SLUICE_CAN_READ_ONLY/)
    })
  })

  describe('decode', () => {
    it('makes batches, and refuses the rest', async () => {
      await helper.load(NODES, [decoder, out])
      const node = helper.getNode('decode')
      const got = nextLike(helper.getNode('out'), () => true)
      const refusal = await answered(node, { trace: 7, payload: ['(1436509052.249713) can0 09F11204#A94C3F00007D0AFD', 'nonsense', {}] })
      expect(refusal).to.equal('SLUICE_CAN_FRAME: A value is refused: not a line of candump. So are 1 others of this message.')
      const message = await got
      expect(message).to.include({ trace: 7, topic: 'boat.VesselHeading' })
      expect(message.payload.time[0]).to.equal(1436509052249713000n)
      expect(await statusLike(node, /1 rows, 2 refused/)).to.include({ fill: 'yellow' })
    })

    it('takes the frames of can read', async () => {
      await helper.load(NODES, [log, { ...reader, mode: 'frames', wires: [['decode']] }, decoder, out])
      const { payload } = await nextLike(helper.getNode('out'), ({ topic }) => topic === 'boat.Attitude')
      expect(payload.tags).to.deep.equal({ bus: 'slcan0' })
      await statusLike(helper.getNode('read'), /^finished, 2,368 rows$/)
    })
  })

  describe('bus', () => {
    it('is opened for the first who leases it, and closed after the last', async () => {
      const shared = new SharedBus({ kind: 'virtual', channel: 'shared', fd: false, bitrate: 0, dataBitrate: 0 }, quiet)
      const [one, other] = await Promise.all([shared.lease(), shared.lease()])
      expect(one.bus).to.equal(other.bus)
      one.release()
      const third = await shared.lease()
      expect(third.bus).to.equal(one.bus)
      other.release()
      third.release()
      await shared.close()
      const again = await shared.lease()
      expect(again.bus).to.not.equal(one.bus)
      again.release()
      await shared.close()
    })
  })

  describe('check of a DBC file', () => {
    /** @param {unknown} body */
    function ask (body) {
      /** @type {any} */
      let handle
      /** @type {unknown} */
      let answer
      /** @type {string[]} */
      const permissions = []
      serveDbcChecks({
        settings: {},
        auth: { needsPermission: (/** @type {string} */ permission) => permissions.push(permission) },
        httpAdmin: {
          post: (/** @type {string} */ route, /** @type {unknown[]} */ ...handlers) => {
            if (route === '/sluice-can/dbc') handle = handlers.at(-1)
          }
        }
      })
      handle({ body }, { json: (/** @type {unknown} */ json) => { answer = json } })
      expect(permissions).to.deep.equal(['flows.write'])
      return /** @type {any} */ (answer)
    }

    it('says what is in it', () => {
      expect(ask({ dbcFile: 'data/vehicle.dbc' })).to.deep.equal({ ok: true, messages: 10, signals: 28, warnings: [] })
    })

    it('lists its bad lines', () => {
      const { ok, warnings } = ask({ dbcFile: 'test/data/can/dbc/opendbc-tesla_can.dbc' })
      expect(ok).to.equal(true)
      expect(warnings[0]).to.have.all.keys('line', 'text', 'reason')
    })

    it('hints at what the file lacks as a whole', async () => {
      const dbcFile = path.join(await mkdtemp(path.join(os.tmpdir(), 'sluice-check-')), 'pgn.dbc')
      await writeFile(dbcFile, `BO_ ${0x80000000 + 0x19F112FE} PGN_127250: 8 X\n SG_ heading : 8|16@1+ (0.0001,0) [0|0] "rad" X\n`)
      expect(ask({ dbcFile }).hint).to.match(/^It looks like a file for J1939 or NMEA 2000, .*\.$/)
      await rm(path.dirname(dbcFile), { recursive: true })
    })

    for (const dbcFile of ['nowhere.dbc', '', '/dev/zero', 'examples', undefined, 7]) {
      it(`says why there is none in ${JSON.stringify(dbcFile)}`, () => {
        const { ok, text } = ask({ dbcFile })
        expect(ok).to.equal(false)
        expect(text).to.match(/DBC file/)
      })
    }
  })

  for (const [example, topics] of Object.entries({
    vehicle: ['car.Dynamics', 'car.Trip'],
    'can-read': ['boat.VesselHeading', 'headings'],
    'can-write': ['desk.Engine', 'desk.Door'],
    'can-decode': ['boat.VesselHeading']
  })) {
    it(`run the example ${example}`, async () => {
      const nodes = JSON.parse(await readFile(`examples/2 Sources/${example}.json`, 'utf8'))
      /** @type {{[type: string]: string}} */
      const replaced = { debug: 'helper', inject: 'helper', catch: 'helper', comment: 'helper' }
      await helper.load(
        NODES,
        nodes.map((/** @type {any} */ node) => ({ ...node, type: replaced[node.type] ?? node.type }))
      )
      const batches = helper.getNode(`example-${example}-batches`)
      const all = Promise.all(topics.map(topic => nextLike(batches, message => message.topic === topic)))
      for (const { type, payload, payloadType, topic, wires } of nodes) {
        if (type === 'inject') {
          helper.getNode(wires[0][0]).receive({ topic, payload: payloadType === 'json' ? JSON.parse(payload) : payload })
        }
      }
      await all
    })
  }
})

/** @param {any} node @param {(message: any) => boolean} isLike @returns {Promise<any>} the next such message it gets */
function nextLike (node, isLike) {
  return new Promise(resolve => {
    const look = (/** @type {any} */ message) => {
      if (!isLike(message)) return
      node.removeListener('input', look)
      resolve(message)
    }
    node.on('input', look)
  })
}

/**
 * Has a node take a message, until it is done.
 * @param {any} node
 * @param {object} message
 * @returns {Promise<string|undefined>} what it refused it with
 */
function answered (node, message) {
  return new Promise(resolve => {
    const { _complete } = node
    node._complete = (/** @type {any[]} */ ...args) => {
      Reflect.apply(_complete, node, args)
      node._complete = _complete
      resolve(args[1])
    }
    node.receive(message)
  })
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
