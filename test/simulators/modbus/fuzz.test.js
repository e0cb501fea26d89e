import { expect } from 'chai'
import { answer } from '../../../gateway/simulators/modbus/answer.js'
import { rtuFraming, tcpFraming } from '../../../gateway/simulators/modbus/framing.js'
import { openModbusSimulator } from '../../../gateway/simulators/modbus/simulator.js'
import { Unit } from '../../../gateway/simulators/modbus/unit.js'
import { fractionAt } from '../../../gateway/base/random.js'
import { ask, connectTo, READ_TWO } from './rig.js'

const STREAMS = 30_000
const MOMENT = { elapsedS: 0, wallS: 0 }
const MAX_PDU = 253

let drawn = 0
/** 0 to below `end`, the same in each run. @param {number} end */
const draw = end => Math.floor(fractionAt(1, drawn++) * end)
const bytes = (/** @type {number} */ length) => Uint8Array.from({ length }, () => draw(256))

/** Something like a request: a known function more often than not, and a length that is mostly right. */
function almostPdu () {
  const code = [1, 2, 3, 4, 5, 6, 15, 16][draw(9)] ?? draw(256)
  const data = code > 6 ? 1 + draw(40) : 0
  const pdu = Buffer.from([code, draw(256), draw(256), 0, draw(130), ...(data ? [data, ...bytes(data)] : [])])
  return draw(10) === 0 ? pdu.subarray(0, 1 + draw(pdu.length)) : pdu
}

/** Requests, right or spoilt, and noise. @param {import('../../../gateway/simulators/modbus/framing.js').ServerFraming} framing */
function stream (framing) {
  const parts = Array.from({ length: 1 + draw(4) }, () => {
    const frame = draw(5) === 0 ? bytes(1 + draw(40)) : framing.frame({ transaction: draw(0x10000), unit: draw(3) }, almostPdu())
    if (draw(3) === 0) frame[draw(frame.length)] = draw(256)
    return draw(6) === 0 ? frame.subarray(0, draw(frame.length)) : frame
  })
  return Buffer.concat(parts)
}

describe('the Modbus simulator, given anything', function () {
  this.timeout(60_000)

  for (const [name, makeFraming] of /** @type {const} */ ([['TCP', tcpFraming], ['RTU', rtuFraming]])) {
    it(`answers a request after ${STREAMS / 2} random streams of ${name}`, () => {
      const unit = new Unit(1, [], { hasOthers: true, seed: 1 })
      const question = makeFraming().frame({ transaction: 5, unit: 1 }, Uint8Array.of(3, 0, 0, 0, 1))
      let requests = 0
      let framing = makeFraming()
      for (let i = 0; i < STREAMS / 2; i++) {
        const whole = stream(framing)
        let isLost = false
        for (let at = 0; at < whole.length && !isLost;) {
          const end = at + 1 + draw(64)
          const intake = framing.receive(whole.subarray(at, end))
          for (const { pdu } of intake.requests) {
            const reply = answer(unit, pdu, MOMENT).pdu
            expect(reply.length).to.be.within(2, MAX_PDU)
            requests++
          }
          isLost = intake.isLost ?? false
          at = end
        }
        if (name === 'TCP') framing = makeFraming() // such a master connects again
        else framing.settle()
        expect(framing.waits()).to.equal(false)
        const { requests: [{ unit: asked, pdu }] } = framing.receive(question)
        expect([asked, ...pdu]).to.deep.equal([1, 3, 0, 0, 0, 1])
      }
      expect(requests).to.be.above(STREAMS / 4)
    })
  }

  it('goes on over the network, with random faults besides', async () => {
    const faults = ['exception', 'wrong-length', 'garbage', 'drop', 'wrong-unit', 'silence'].map(fault => ({ fault, percent: 10 }))
    for (const connection of ['tcp', 'rtu-over-tcp']) {
      /** @type {string[]} */
      const errors = []
      const log = { info () {}, warn () {}, error: (/** @type {string} */ text) => { errors.push(text) } }
      const simulator = await openModbusSimulator({ connection, port: 0, units: '0-2', faults }, { log })
      const framing = connection === 'tcp' ? tcpFraming() : rtuFraming()
      for (let i = 0; i < 300; i++) {
        const socket = await connectTo(simulator)
        socket.resume()
        await new Promise(resolve => { socket.once('close', resolve).end(stream(framing)) })
      }
      await simulator.setFault({ fault: 'none' })
      const question = connection === 'tcp' ? READ_TWO(1) : framing.frame({ transaction: 0, unit: 1 }, Uint8Array.of(3, 0, 0, 0, 2))
      expect(await ask(await connectTo(simulator), question)).to.have.length(connection === 'tcp' ? 13 : 9)
      expect(errors).to.deep.equal([])
      expect(simulator.counters.connections).to.equal(301)
      await simulator.close()
    }
  })
})
