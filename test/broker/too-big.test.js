import { expect } from 'chai'
import { once } from 'node:events'
import net from 'node:net'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { until } from './pipeline.js'
import { batchOf, StageRig } from './stage-rig.js'
import { settled } from './waiting.js'

/** Rows of the big batch: some 80 kB. */
const ROWS = 5000
const OTHERS = 85

describe('a batch too big for the broker', () => {
  before(function () { requireMosquitto(this) })

  /** @type {StageRig|undefined} */
  let rig
  afterEach(() => rig?.stop())

  /** @param {string} limit @param {'5'|'3.1.1'} protocolVersion */
  async function start (limit, protocolVersion) {
    const mosquitto = await startMosquitto({ conf: [limit] })
    return rig = await StageRig.create({ url: mosquitto.url, protocolVersion, stop: () => mosquitto.stop() })
  }

  /** @param {{payload: Buffer}[]} messages */
  const valuesOf = messages => new Set(messages.flatMap(({ payload }) => [.../** @type {Float64Array} */ (decode(payload).columns[0])]))

  /** @param {import('../../broker/out/stage.js').Stage} stage */
  async function produce (stage) {
    await stage.append(batchOf(1000, 'press', ROWS))
    await Promise.all(Array.from({ length: OTHERS }, (_, i) => stage.append(batchOf(i))))
  }

  for (const [limit, protocolVersion, how] of /** @type {const} */ ([
    ['max_packet_size 20000', '5', 'announces its limit'],
    ['max_packet_size 20000', '3.1.1', 'breaks the connection again and again'],
    ['message_size_limit 20000', '5', 'refuses it']
  ])) {
    it(`is staged again in parts that pass, and holds up no other: ${limit}, MQTT ${protocolVersion}, which ${how}`, async () => {
      const { listen, openStage } = bound(await start(limit, protocolVersion))
      const { stage } = await openStage()
      const sent = await listen('sluice/v2/gw/data/press')
      await produce(stage)
      await until(() => valuesOf(sent).size === ROWS + OTHERS, () => `all rows, there are ${valuesOf(sent).size}`, 60_000)
      expect(sent.every(({ payload }) => payload.length < 20_000)).to.equal(true)
      const { replaced, rows } = stage.spool.head.sources[0]
      expect(rows - replaced).to.equal(ROWS + OTHERS)
      expect(stage.state.tooBig).to.equal(0)
    })
  }

  it('is staged again in parts where the broker acknowledges it and says nothing, once a reader has found out', async () => {
    const { listen, tell, openStage } = bound(await start('message_size_limit 20000', '3.1.1'))
    const { stage } = await openStage()
    const sent = await listen('sluice/v2/gw/data/press')
    await produce(stage)
    await until(() => valuesOf(sent).size === OTHERS)
    /** @type {Set<string>} */
    const asked = new Set()
    while (valuesOf(sent).size < ROWS + OTHERS) { // what a reader does: what is held and never arrives is listed
      const [{ epochs }] = stage.spool.head.sources
      const arrived = new Set(sent.map(({ payload }) => decode(payload).identity).map(identity => `${identity?.epoch}/${identity?.seq}`))
      for (const { epoch, first, last } of epochs) {
        for (let seq = first; seq <= last; seq++) {
          if (arrived.has(`${epoch}/${seq}`) || asked.has(`${epoch}/${seq}`)) continue
          asked.add(`${epoch}/${seq}`)
          await tell('sluice/v2/other/resend/in/gw', { sources: {}, undelivered: { press: { [epoch]: [seq] } } })
        }
      }
      await settled(() => sent.length)
    }
  })

  it('is an alarm when it is a single row, which stays in the spool', async () => {
    const { openStage, listen, logged } = bound(await start('max_packet_size 2000', '5'))
    const { stage } = await openStage()
    const sent = await listen('sluice/v2/gw/data/press')
    const wide = batchOf(1)
    const fields = Array.from({ length: 500 }, (_, i) => ({ name: `field ${i}`, type: /** @type {const} */ ('float64') }))
    const { Batch } = await import('../../gateway/batch/batch.js')
    await stage.append(new Batch({ source: 'press', time: wide.time, fields, columns: fields.map(() => new Float64Array([1])) }))
    await Promise.all(Array.from({ length: OTHERS }, (_, i) => stage.append(batchOf(i))))
    await until(() => sent.length === OTHERS)
    await until(() => stage.state.tooBig === 1)
    expect(logged.join('\n')).to.include('SLUICE_ROW_TOO_BIG')
    expect(stage.spool.next()?.seq).to.equal(0)
  })
})

describe('rows that are under way when a bad link breaks again and again', () => {
  it('are not taken for too big: all arrive, whole, once the link is good', async () => {
    const rig = await StageRig.create()
    const link = await openLink(Number(new URL(rig.broker.url).port))
    try {
      rig.broker = { ...rig.broker, url: `mqtt://127.0.0.1:${link.port}` }
      const { stage } = await rig.openStage()
      const sent = await rig.listen('sluice/v2/gw/data/press')
      await stage.append(batchOf(1000, 'press', 100))
      await until(() => sent.length === 1)
      link.isBad = true
      await Promise.all([1, 2].map(value => stage.append(batchOf(value))))
      await until(() => link.cuts >= 5, () => `5 cuts, there were ${link.cuts}`, 60_000)
      link.isBad = false
      await Promise.all(Array.from({ length: 20 }, (_, i) => stage.append(batchOf(3 + i))))
      await until(() => sent.length >= 23, () => `all rows, there are ${sent.length}`, 60_000)
      expect(stage.spool.head.sources[0].replaced).to.equal(0)
      expect([stage.state.tooBig, rig.logged.join().includes('SLUICE_ROW_TOO_BIG')]).to.deep.equal([0, false])
    } finally {
      await rig.stop()
      await link.close()
    }
  })
})

/** A proxy that, while it is bad, lets clients connect, and from the first batch on cuts off what they say next. @param {number} port */
async function openLink (port) {
  /** @type {Set<net.Socket>} */
  const sockets = new Set()
  const server = net.createServer(near => {
    const far = net.connect(port, '127.0.0.1')
    const cut = () => [near, far].forEach(socket => socket.destroy())
    near.on('data', data => {
      const isConnect = data[0] >> 4 === 1
      if (link.isBad && !isConnect && (link.cuts > 0 || data.includes('sluice/v2/gw/data/'))) {
        link.cuts++
        cut()
      } else far.write(data)
    })
    far.on('data', data => near.write(data))
    for (const socket of [near, far]) sockets.add(socket.on('error', cut).on('close', cut))
  })
  const link = {
    port: 0,
    isBad: false,
    cuts: 0,
    async close () {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  link.port = /** @type {net.AddressInfo} */ (server.address()).port
  return link
}

/** @param {StageRig} rig */
function bound (rig) {
  return { listen: rig.listen.bind(rig), tell: rig.tell.bind(rig), openStage: rig.openStage.bind(rig), logged: rig.logged }
}
