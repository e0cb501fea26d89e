import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { ModbusMaster } from '../../servers/modbus-master.js'
import { requirePython } from '../../servers/python.js'
import { ManualClock } from '../../sources/manual-clock.js'
import { ask, connectTo, READ_TWO, readRequestFrame, simulators } from './rig.js'

/** @typedef {import('../../servers/modbus-master.js').MasterResult} MasterResult */

const QUESTION = /** @type {const} */ ({ area: 'holding-registers', address: 10, count: 4 })
const UNANSWERED = /No response received/

/** What pymodbus sees, by connection and fault. @type {Record<'tcp'|'rtu-over-tcp', Record<string, (result: MasterResult) => void>>} */
const SEEN = {
  tcp: {
    delay: result => {
      expect(result.values).to.deep.equal([0, 0, 0, 0])
      expect(result.tookMs).to.be.at.least(49)
    },
    silence: result => expect(result.text).to.match(UNANSWERED),
    exception: result => expect(result.exception).to.equal(6),
    'wrong-length': result => expect(result.said.join()).to.match(/byte_count 8 > length of packet/),
    garbage: result => expect(result.text).to.match(UNANSWERED),
    drop: result => {
      expect(result.error).to.equal('ConnectionException')
      expect(result.said.join()).to.match(/Short frame/)
    },
    'wrong-unit': result => expect(result.said.join()).to.match(/ask for id=1 but got id=2/),
    'wrong-transaction': result => expect(result.said.join()).to.match(/ask for transaction_id=\d+ but got id=\d+/),
    offline: result => expect(result.error).to.equal('ConnectionException')
  },
  'rtu-over-tcp': {
    silence: result => expect(result.text).to.match(UNANSWERED),
    exception: result => expect(result.exception).to.equal(6),
    'wrong-length': result => expect(result.said.join()).to.match(/not ready/),
    garbage: result => expect(result.said.join()).to.match(/CRC check failed, possible garbage/),
    drop: result => expect(result.error).to.equal('ConnectionException'),
    'wrong-unit': result => expect(result.said.join()).to.match(/ask for id=1 but got id=2/),
    'bad-crc': result => expect(result.said.join()).to.match(/CRC check failed/)
  }
}

describe('the faults of the Modbus simulator', () => {
  const start = simulators()

  for (const [connection, faults] of Object.entries(SEEN)) {
    describe(`seen by pymodbus over ${connection}`, function () {
      this.timeout(30_000)
      before(function () { requirePython(this) })

      it('do what their names say, and are over when they end', async () => {
        const simulator = await start({ connection })
        const master = await ModbusMaster.start('pymodbus', {
          transport: /** @type {'tcp'} */ (connection),
          port: simulator.port,
          timeoutMs: 300
        })
        try {
          for (const [fault, check] of Object.entries(faults)) {
            await simulator.setFault({ fault, delayMs: 50, exception: 6 })
            check(await master.ask(QUESTION))
            await simulator.setFault({ fault: 'none' })
            expect((await master.ask(QUESTION)).values, `after ${fault}`).to.deep.equal([0, 0, 0, 0])
          }
        } finally {
          await master.stop()
        }
        const happened = Object.keys(faults).filter(fault => fault !== 'offline')
        expect(simulator.counters.faults).to.include(Object.fromEntries(happened.map(fault => [fault, 1])))
      })
    })
  }

  it('happen to the units they are for', async () => {
    const simulator = await start({ units: '1-3', faults: [{ fault: 'exception', unit: '2', exception: 4 }] })
    const socket = await connectTo(simulator)
    expect((await ask(socket, READ_TWO(1))).subarray(7, 9)).to.deep.equal(Buffer.of(3, 4))
    expect((await ask(socket, READ_TWO(2))).subarray(7)).to.deep.equal(Buffer.of(0x83, 4))
    await simulator.setFault({ fault: 'exception', unit: '1, 3', exception: 6 })
    expect((await ask(socket, READ_TWO(3))).subarray(7)).to.deep.equal(Buffer.of(0x83, 6))
    expect(simulator.faults).to.deep.equal(['exception of 1, 3', 'exception of 2'])
  })

  it('happen as often as told, to the same requests with the same seed', async () => {
    const happened = async (/** @type {number} */ seed) => {
      const simulator = await start({ seed, faults: [{ fault: 'exception', percent: 25 }] })
      const socket = await connectTo(simulator)
      const pattern = []
      for (let i = 0; i < 400; i++) pattern.push((await ask(socket, READ_TWO(1)))[7] === 0x83)
      expect(simulator.counters.faults.exception).to.equal(pattern.filter(Boolean).length).and.to.be.within(70, 130)
      return pattern.join()
    }
    expect(await happened(1)).to.equal(await happened(1)).and.not.to.equal(await happened(2))
  })

  it('end when their time is over', async () => {
    const clock = new ManualClock()
    const simulator = await start({}, { clock })
    const socket = await connectTo(simulator)
    await simulator.setFault({ fault: 'exception', seconds: 10 })
    clock.advance(9500)
    expect(simulator.faults).to.deep.equal(['exception for 1 s'])
    expect((await ask(socket, READ_TWO(1)))[7]).to.equal(0x83)
    clock.advance(500)
    expect(simulator.faults).to.deep.equal([])
    expect((await ask(socket, READ_TWO(1)))[7]).to.equal(3)
  })

  it('delay later requests where a reply is late, and keep their order', async () => {
    const simulator = await start()
    const socket = await connectTo(simulator)
    await simulator.setFault({ fault: 'delay', delayMs: 20 })
    socket.write(Buffer.concat([readRequestFrame({ transaction: 7 }), readRequestFrame({ transaction: 8 })]))
    const [first] = await once(socket, 'data')
    await simulator.setFault({ fault: 'none' })
    const [second] = await once(socket, 'data')
    expect([first, second].map(reply => reply.readUInt16BE(0))).to.deep.equal([7, 8])
  })

  it('prevent the write where there is no reply or an exception', async () => {
    const simulator = await start()
    const socket = await connectTo(simulator)
    await simulator.setFault({ fault: 'exception' })
    await ask(socket, Buffer.from('00010000000601060000ffff', 'hex'))
    expect(simulator.counters.writes).to.equal(0)
  })

  it('take it offline, and back to the same port', async () => {
    const simulator = await start()
    const socket = await connectTo(simulator)
    const closed = once(socket, 'close')
    await simulator.setFault({ fault: 'offline' })
    await closed
    expect(simulator.faults).to.deep.equal(['offline'])
    expect(simulator.masters).to.equal(0)
    expect(await connectTo(simulator).catch(error => error.code)).to.equal('ECONNREFUSED')
    await simulator.setFault({ fault: 'none' })
    expect(await ask(await connectTo(simulator), READ_TWO(1))).to.have.length(13)
  })

  it('take it offline for a time, and try until the port is free', async () => {
    /** @type {string[]} */
    const errors = []
    const { promise: failed, resolve } = Promise.withResolvers()
    const log = { info () {}, warn () {}, error: (/** @type {string} */ text) => { errors.push(text); resolve(undefined) } }
    const simulator = await start({}, { log })
    await simulator.setFault({ fault: 'offline', seconds: 0.1 })
    const other = createServer().listen(simulator.port, '127.0.0.1')
    await once(other, 'listening')
    await failed
    expect(errors[0]).to.match(/SLUICE_MODBUS_LISTEN.*Another program has that port/)
    other.close()
    await simulator.setFault({ fault: 'none' })
    expect(await ask(await connectTo(simulator), READ_TWO(1))).to.have.length(13)
  })

  it('are refused where they are impossible', async () => {
    const simulator = await start()
    /** @type {[unknown, RegExp][]} */
    const bad = [
      [undefined, /SLUICE_MODBUS_FAULT|A fault is an object/],
      ['silence', /A fault is an object/],
      [{}, /Fault is missing/],
      [{ fault: 'fire' }, /Fault must be one of none, offline/],
      [{ fault: 'silence', units: 3 }, /has no "units"/],
      [{ fault: 'silence', unit: 'some' }, /Units must look like/],
      [{ fault: 'silence', unit: '5-300' }, /Units go from 0 to 255/],
      [{ fault: 'bad-crc' }, /for connections of RTU only/]
    ]
    for (const [command, words] of bad) expect(() => simulator.setFault(command), JSON.stringify(command)).to.throw(words)
    for (let unit = 0; unit < 100; unit++) await simulator.setFault({ fault: 'silence', unit })
    expect(() => simulator.setFault({ fault: 'silence', unit: 100 })).to.throw(/There are 100 faults already/)
    await simulator.setFault({ fault: 'silence', unit: 99, percent: 5 })
    expect(simulator.faults).to.have.length(100).and.to.include('silence 5 % of 99')
  })
})
