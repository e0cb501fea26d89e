import { expect } from 'chai'
import { openDevice } from '../../gateway/modbus/device.js'
import { openModbusSimulator } from '../../gateway/simulators/modbus/simulator.js'

const log = { info () {}, warn () {}, error () {} }

describe('a shared Modbus line on which only dead devices are asked for a while', () => {
  it('stays connected: one of its devices has just answered', async () => {
    const simulator = await openModbusSimulator(
      { connection: 'rtu-over-tcp', port: 0, units: '1-4', faults: [{ fault: 'silence', unit: '2-4' }] },
      { log }
    )
    const [alive, ...dead] = [1, 2, 3, 4].map(unit => openDevice(
      { connection: 'rtu-over-tcp', host: '127.0.0.1', port: simulator.port, unit, timeoutMs: 20 },
      { log }
    ))
    try {
      await alive.read('holding-registers', 0, 1)
      const outcomes = await Promise.all(dead.map(device => device.read('holding-registers', 0, 1).catch(error => error.code)))
      expect(outcomes).to.deep.equal(Array(3).fill('SLUICE_MODBUS_TIMEOUT'))
      expect(alive.health).to.include({ disconnects: 0, state: 'good' })
      expect(simulator.counters.connections).to.equal(1)
    } finally {
      for (const device of [alive, ...dead]) await device.close()
      await simulator.close()
    }
  })
})
