import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { openModbusSimulator } from '../../../gateway/simulators/modbus/simulator.js'
import { requireLibmodbus } from '../../servers/libmodbus.js'
import { ModbusMaster } from '../../servers/modbus-master.js'
import { ptyPair, requirePty } from '../../servers/pty.js'
import { requirePython } from '../../servers/python.js'

/**
 * @typedef {import('../../../gateway/modbus/device.js').Area} Area
 * @typedef {import('../../servers/modbus-master.js').MasterOptions['transport']} Transport
 */

const REGISTERS = [
  { area: 'holding-registers', address: 0, type: 'uint16', value: 0xABCD },
  { area: 'holding-registers', address: 1, type: 'float32', value: 20.5 },
  { area: 'holding-registers', address: 3, type: 'uint16', value: 7, unit: '3' },
  { area: 'input-registers', address: 0, type: 'int32', value: -2 },
  { area: 'coils', address: 1, value: 1 },
  { area: 'discrete-inputs', address: 0, value: 1 },
  { area: 'discrete-inputs', address: 9, value: 1 }
]

/** @type {[library: 'pymodbus'|'libmodbus', transport: Transport][]} */
const MASTERS = [['pymodbus', 'tcp'], ['pymodbus', 'rtu-over-tcp'], ['pymodbus', 'serial'], ['libmodbus', 'tcp'], ['libmodbus', 'serial']]
const REQUIRE = { pymodbus: requirePython, libmodbus: requireLibmodbus }

describe('the Modbus simulator asked by third-party masters', function () {
  for (const [library, transport] of MASTERS) {
    describe(`by ${library} over ${transport}`, () => {
      /** @type {Awaited<ReturnType<typeof ptyPair>>|undefined} */
      let ports
      /** @type {import('../../../gateway/simulators/modbus/simulator.js').ModbusSimulator} */
      let simulator
      /** @type {ModbusMaster} */
      let master
      /** @type {object[]} */
      const writes = []

      before(async function () {
        REQUIRE[library](this)
        if (transport === 'serial') {
          requirePty(this)
          ports = await ptyPair()
        }
        const connection = transport === 'serial' ? 'rtu' : transport
        const options = {
          connection, port: 0, path: ports?.paths[0], baudRate: 115200, parity: 'none', units: '1, 3-4', registers: REGISTERS
        }
        simulator = await openModbusSimulator(options, { log: console, onWrite: write => writes.push(write) })
        master = await ModbusMaster.start(library, { transport, port: simulator.port, path: ports?.paths[1] })
      })
      after(async () => {
        await master?.stop()
        await simulator?.close()
        await ports?.close()
      })
      beforeEach(() => { writes.length = 0 })

      /** @param {Area} area @param {number} address @param {number} count @param {number} [unit] */
      const read = async (area, address, count, unit) => (await master.ask({ area, address, count, unit })).values

      it('answers with the values of its table', async () => {
        expect(await read('holding-registers', 0, 4)).to.deep.equal([0xABCD, 0x41A4, 0, 0])
        expect(await read('input-registers', 0, 2)).to.deep.equal([0xFFFF, 0xFFFE])
        expect(await read('coils', 0, 3)).to.deep.equal([0, 1, 0])
        expect(await read('discrete-inputs', 0, 10)).to.deep.equal([1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
      })

      it('has its own values for each unit', async () => {
        expect(await read('holding-registers', 3, 1, 3)).to.deep.equal([7])
        expect(await read('holding-registers', 3, 1, 4)).to.deep.equal([0])
      })

      it('keeps what is written', async () => {
        await master.ask({ area: 'holding-registers', address: 100, values: 4711 })
        await master.ask({ area: 'holding-registers', address: 101, values: [1, 2, 0xFFFF] })
        await master.ask({ area: 'coils', address: 20, values: 1 })
        await master.ask({ area: 'coils', address: 21, values: [1, 0, 1, 1, 0, 0, 0, 0, 1] })
        expect(await read('holding-registers', 99, 6)).to.deep.equal([0, 4711, 1, 2, 0xFFFF, 0])
        expect(await read('coils', 19, 12)).to.deep.equal([0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0])
        expect(await read('holding-registers', 100, 1, 3)).to.deep.equal([0])
        expect(writes).to.deep.equal([
          { unit: 1, area: 'holding-registers', address: 100, values: [4711] },
          { unit: 1, area: 'holding-registers', address: 101, values: [1, 2, 0xFFFF] },
          { unit: 1, area: 'coils', address: 20, values: [true] },
          { unit: 1, area: 'coils', address: 21, values: [true, false, true, true, false, false, false, false, true] }
        ])
      })

      it('fills a reply to its limit', async () => {
        await master.ask({ area: 'holding-registers', address: 65_412, values: Array.from({ length: 123 }, (_, i) => i) })
        expect(await read('holding-registers', 65_411, 125)).to.deep.equal([0, ...Array.from({ length: 123 }, (_, i) => i), 0])
        expect(await read('coils', 63_536, 2000)).to.have.length(2000)
      })

      it('refuses addresses beyond the last', async () => {
        expect(await master.ask({ area: 'input-registers', address: 65_535, count: 2 })).to.include({ exception: 2 })
      })

      it('counts', () => {
        expect(simulator.counters).to.include({ writes: 5, connections: 1, badRequests: 0, otherUnits: 0 })
        expect(simulator.counters.functions).to.have.all.keys('1', '2', '3', '4', '5', '6', '15', '16')
        expect(simulator.masters).to.equal(1)
      })
    })
  }

  it('finds its serial port again after it was pulled out', async function () {
    requirePython(this)
    requirePty(this)
    const ports = await ptyPair()
    const { promise: noticed, resolve } = Promise.withResolvers()
    const log = { info () {}, warn: resolve, error () {} }
    const simulator = await openModbusSimulator({ connection: 'rtu', path: ports.paths[0], parity: 'none' }, { log })
    try {
      await ports.unplug()
      expect(await noticed).to.match(/is gone/)
      expect(simulator.faults).to.deep.equal(['offline'])
      await ports.plug()
      await simulator.setFault({ fault: 'none' }) // looks at once, and goes on looking
      while (simulator.faults.length > 0) await sleep(20)
      const master = await ModbusMaster.start('pymodbus', { transport: 'serial', path: ports.paths[1] })
      try {
        expect((await master.ask({ area: 'coils', address: 0, count: 1 })).values).to.deep.equal([1])
      } finally {
        await master.stop()
      }
    } finally {
      await simulator.close()
      await ports.close()
    }
  })
})
