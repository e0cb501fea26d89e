import { expect } from 'chai'
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

/** @param {StageRig} rig */
function bound (rig) {
  return { listen: rig.listen.bind(rig), tell: rig.tell.bind(rig), openStage: rig.openStage.bind(rig), logged: rig.logged }
}
