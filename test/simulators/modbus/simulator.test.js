import { once } from 'node:events'
import { expect } from 'chai'
import { openModbusSimulator } from '../../../gateway/simulators/modbus/simulator.js'
import { compileValue, NUMBER_TYPES } from '../../../gateway/modbus/values.js'
import { rtuFrame } from '../../../gateway/modbus/wire/rtu.js'
import { ManualClock } from '../../sources/manual-clock.js'
import { ask, connectTo, READ_TWO, readRequestFrame, simulators } from './rig.js'

/** @typedef {import('node:net').Socket} Socket */

const START_NS = 1_700_000_000_000_000_000n

describe('the Modbus simulator', () => {
  const start = simulators()

  describe('has values that', () => {
    /** Reads what one row gives now, and after some seconds. @param {object} row @param {...number} seconds */
    const over = async (row, ...seconds) => {
      const clock = new ManualClock(START_NS)
      const simulator = await start({ registers: [{ address: 0, ...row }] }, { clock })
      const { type = 'uint16' } = /** @type {{type?: string}} */ (row)
      const codec = compileValue({ type })
      const socket = await connectTo(simulator)
      const values = []
      for (const second of seconds) {
        clock.ns = START_NS + BigInt(Math.round(second * 1e9))
        const reply = await ask(socket, readRequestFrame({ count: codec.count }))
        values.push(codec.read(Array.from({ length: codec.count }, (_, i) => reply.readUInt16BE(9 + 2 * i)), 0))
      }
      return values
    }

    it('stay', async () => {
      expect(await over({ type: 'float32', value: -2.5 }, 0, 100)).to.deep.equal([-2.5, -2.5])
    })

    it('count, and begin again', async () => {
      expect(await over({ shape: 'counter', value: 65_534, periodS: 2 }, 0, 1.9, 2, 4, 6)).to.deep.equal([65_534, 65_534, 65_535, 0, 1])
      expect(await over({ shape: 'counter', type: 'int16', value: 32_767 }, 0, 1)).to.deep.equal([32_767, -32_768])
      expect(await over({ shape: 'counter', type: 'bcd16', value: 9999 }, 0, 1)).to.deep.equal([9999, 0])
    })

    it('swing', async () => {
      expect(await over({ shape: 'sine', type: 'float64', value: 20, amplitude: 5, periodS: 60 }, 0, 15, 45)).to.deep.equal([20, 25, 15])
      expect(await over({ shape: 'sine', type: 'int16', value: 0, amplitude: 100_000, periodS: 4 }, 1, 3)).to.deep.equal([32_767, -32_768])
    })

    it('are random, each for its period, and the same for the same seed', async () => {
      const row = { shape: 'random', type: 'int32', value: 1000, amplitude: 100, periodS: 1 }
      const [a, b, c, d] = await over(row, 0, 0.9, 1, 2)
      expect(a).to.equal(b)
      expect(new Set([b, c, d]).size).to.equal(3)
      for (const value of [a, c, d]) expect(value).to.be.within(900, 1100)
      expect(await over(row, 2)).to.deep.equal([d])
    })

    it('tell the time', async () => {
      expect(await over({ shape: 'uptime', type: 'uint32' }, 0.5, 3.9)).to.deep.equal([0n, 3n])
      expect(await over({ shape: 'time', type: 'uint32' }, 0.5, 61)).to.deep.equal([1_700_000_000n, 1_700_000_061n])
    })

    it('keep within the range of any type', async () => {
      for (const type of NUMBER_TYPES) {
        for (const value of [-1e300, 1e300]) {
          const [held] = await over({ type, value }, 0)
          // int64 holds only half of uint64
          if (type !== 'uint64') expect(held, `${type} of ${value}`).not.to.equal(undefined)
        }
      }
    })

    it('are bits where bits are', async () => {
      const clock = new ManualClock(START_NS)
      const simulator = await start(
        { registers: [{ area: 'coils', address: 1, shape: 'counter', periodS: 1 }, { area: 'coils', address: 2, value: 7 }] },
        { clock }
      )
      const socket = await connectTo(simulator)
      const coils = async () => (await ask(socket, Buffer.from('000100000006010100000003', 'hex')))[9]
      expect(await coils()).to.equal(0b100)
      clock.advance(1000)
      expect(await coils()).to.equal(0b110)
      clock.advance(1000)
      expect(await coils()).to.equal(0b100)
    })

    it('differ from unit to unit where they are random', async () => {
      const simulator = await start({ units: '1-2', registers: [{ address: 0, type: 'int32', shape: 'random', amplitude: 1e9 }] })
      const socket = await connectTo(simulator)
      expect((await ask(socket, READ_TWO(1))).subarray(9)).not.to.deep.equal((await ask(socket, READ_TWO(2))).subarray(9))
    })

    it('may be read in part, and written in part', async () => {
      const simulator = await start({ registers: [{ address: 4, type: 'uint64', value: 2 ** 48 + 2 ** 32 + 2 ** 16 + 1 }] })
      const socket = await connectTo(simulator)
      const registers = async (/** @type {number} */ address, /** @type {number} */ count) => {
        return (await ask(socket, readRequestFrame({ address, count }))).subarray(9).toString('hex')
      }
      expect(await registers(3, 3)).to.equal('000000010001')
      expect(await registers(6, 3)).to.equal('000100010000')
      await ask(socket, Buffer.from('000100000006010600051234', 'hex'))
      expect(await registers(4, 4)).to.equal('0001123400010001')
    })
  })

  it('refuses what it has not, and what makes no sense', async () => {
    const simulator = await start({
      others: 'illegal',
      registers: [{ address: 10, type: 'float32' }, { address: 12 }, { area: 'coils', address: 3 }]
    })
    const socket = await connectTo(simulator)
    /** @type {[what: string, pdu: string, reply: string][]} */
    const questions = [
      ['registers that are there', '03000a0003', '0306000000000000'],
      ['one beyond', '03000a0004', '8302'],
      ['one before', '0300090002', '8302'],
      ['no registers', '03000a0000', '8303'],
      ['too many', '03000a007e', '8303'],
      ['too many bits', '01000307d1', '8103'],
      ['a request cut short', '03000a', '8303'],
      ['a request too long', '03000a000100', '8303'],
      ['beyond the last', '03ffff0002', '8302'],
      ['a coil neither on nor off', '0500031234', '8503'],
      ['a coil that is not there', '050004ff00', '8502'],
      ['a coil', '050003ff00', '050003ff00'],
      ['a write of other length than it says', '10000a0001040000', '9003'],
      ['a write of other count', '10000a00020200', '9003'],
      ['a write beyond', '10000b000306000000000000', '9002'],
      ['a write', '10000b0001021234', '10000b0001'],
      ['another function', '2b0e0100', 'ab01'],
      ['none', '00', '8001']
    ]
    for (const [what, pdu, reply] of questions) {
      const head = Buffer.from([0, 9, 0, 0, 0, 1 + pdu.length / 2, 1])
      expect((await ask(socket, Buffer.concat([head, Buffer.from(pdu, 'hex')]))).subarray(7).toString('hex'), what).to.equal(reply)
    }
  })

  it('answers requests that come together, and those that come in pieces', async () => {
    for (const [connection, frame] of /** @type {[string, Buffer|Uint8Array][]} */ ([
      ['tcp', readRequestFrame()],
      ['rtu-over-tcp', rtuFrame(1, Uint8Array.of(3, 0, 0, 0, 2))]
    ])) {
      const simulator = await start({ connection })
      const socket = await connectTo(simulator)
      const size = connection === 'tcp' ? 13 : 9
      socket.write(Buffer.concat(Array(20).fill(frame)))
      await bytesFrom(socket, 20 * size)
      const answered = bytesFrom(socket, size)
      for (const byte of frame) {
        socket.write(Uint8Array.of(byte))
        await new Promise(resolve => setImmediate(resolve))
      }
      await answered
      expect(simulator.counters).to.include({ requests: 21, badRequests: 0 })
    }
  })

  it('leaves units alone that it has not', async () => {
    const simulator = await start({ units: '1, 3' })
    const socket = await connectTo(simulator)
    const reply = await ask(socket, Buffer.concat([READ_TWO(2), READ_TWO(3)]))
    expect(reply).to.have.length(13)
    expect(reply[6]).to.equal(3)
    expect(simulator.units).to.deep.equal([1, 3])
    expect(simulator.counters).to.include({ requests: 1, otherUnits: 1 })
  })

  it('takes a write to unit 0 for all units, and does not answer it', async () => {
    /** @type {number[]} */
    const units = []
    const simulator = await start({ units: '1, 3' }, { onWrite: (/** @type {{unit: number}} */ { unit }) => units.push(unit) })
    const socket = await connectTo(simulator)
    const reply = await ask(socket, Buffer.concat([
      Buffer.from('000100000006000600000042', 'hex'),
      readRequestFrame({ unit: 0 }),
      READ_TWO(3)
    ]))
    expect(reply.subarray(6).toString('hex')).to.equal('03030400420000')
    expect(units).to.deep.equal([1, 3])
  })

  it('tells a function it does not know on a serial line by the silence after it', async () => {
    const simulator = await start({ connection: 'rtu-over-tcp' })
    const socket = await connectTo(simulator)
    const reply = Buffer.from(await ask(socket, rtuFrame(1, Uint8Array.of(0x2B, 14, 1, 0))))
    expect(reply).to.deep.equal(Buffer.from(rtuFrame(1, Uint8Array.of(0xAB, 1))))
  })

  it('finds a request behind noise on a serial line', async () => {
    const simulator = await start({ connection: 'rtu-over-tcp' })
    const socket = await connectTo(simulator)
    const request = rtuFrame(1, Uint8Array.of(3, 0, 0, 0, 2))
    for (const noise of ['ff', '0103', '01100000000af0', '000000000000000000', '01030000000244'].map(hex => Buffer.from(hex, 'hex'))) {
      expect(await ask(socket, Buffer.concat([noise, request])), noise.toString('hex')).to.have.length(9)
    }
    expect(simulator.counters.badRequests).to.equal(5)
  })

  it('closes a connection that does not speak Modbus TCP', async () => {
    const simulator = await start()
    const socket = await connectTo(simulator)
    socket.write('GET / HTTP/1.1\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    expect(simulator.counters).to.include({ badRequests: 1, requests: 0 })
  })

  it('says what is wrong with its options', async () => {
    /** @type {[object, RegExp][]} */
    const bad = [
      [{ units: '1, x' }, /Units must look like 1/],
      [{ units: '9-3' }, /Units go from 0 to 255, upwards/],
      [
        { registers: [{ address: 1, type: 'float32' }, { address: 2 }] },
        /Two rows of the registers use address 2 of the holding-registers/
      ],
      [{ registers: [{ address: 65_535, type: 'float32' }] }, /does not fit at address 65535/],
      [{ registers: [{ unit: '300' }] }, /Units go from 0 to 255/],
      [{ faults: [{ fault: 'bad-crc' }] }, /for connections of RTU only/]
    ]
    for (const [options, words] of bad) {
      expect(await failureOf({ port: 0, ...options })).to.match(/^SLUICE_OPTIONS/).and.to.match(words)
    }
  })

  it('says that its port is taken, or is no serial port', async () => {
    const { port } = await start()
    expect(await failureOf({ port })).to.match(/^SLUICE_MODBUS_LISTEN.*choose another port/)
    expect(await failureOf({ connection: 'rtu', path: '/nowhere/tty' })).to.match(/^SLUICE_MODBUS_LISTEN.*nowhere/)
  })
})

/** @param {Socket} socket @param {number} count */
async function bytesFrom (socket, count) {
  for (let left = count; left > 0;) left -= (await once(socket, 'data'))[0].length
}

/** Why a simulator does not open. @param {object} options */
function failureOf (options) {
  return openModbusSimulator(options, { log: console }).catch(error => `${error.code} ${error.message}`)
}
