import { expect } from 'chai'
import { openDevice } from '../../gateway/modbus/device.js'
import { ModbusWriter } from '../../gateway/modbus/writer.js'
import { startPymodbus } from '../servers/pymodbus.js'
import { requirePython } from '../servers/python.js'
import { exception, FakeDevice, silent } from './fake-device.js'

const TAGS = [
  { name: 'setpoint', address: '10', type: 'float32', order: 'CDAB', min: 0, max: 80 },
  { name: 'speed', address: '20', type: 'int16', scale: 0.1 },
  { name: 'serial', address: '30', type: 'string', length: 4 },
  { name: 'run', area: 'coils', address: '3', type: 'bool' }
]

/** @param {import('../../gateway/modbus/device.js').Device} device @param {object} [options] */
const writerTo = (device, options) => new ModbusWriter({ allowed: true, tags: TAGS, ...options }, { device })

/** @param {() => Promise<unknown>} work @returns {Promise<any>} */
const failureOf = work => work().then(() => { throw new Error('It did not fail.') }, error => error)

describe('Modbus write', () => {
  it('writes each value, reads it back and reports it', async () => {
    const device = new FakeDevice()
    expect(await writerTo(device).write({ setpoint: 20.5, speed: 12.34, run: true })).to.deep.equal({
      setpoint: { written: 20.5, readBack: 20.5, ok: true },
      speed: { written: 12.3, readBack: 12.3, ok: true },
      run: { written: true, readBack: true, ok: true }
    })
    expect(device.written).to.deep.equal([
      { area: 'holding-registers', address: 10, values: [0, 0x41A4] },
      { area: 'holding-registers', address: 20, values: [123] },
      { area: 'coils', address: 3, values: [1] }
    ])
  })

  it('writes nothing unless it is allowed', async () => {
    const device = new FakeDevice()
    const error = await failureOf(() => writerTo(device, { allowed: undefined }).write({ speed: 1 }))
    expect(error).to.have.property('code', 'SLUICE_MODBUS_WRITE_OFF')
    expect(device.written).to.deep.equal([])
  })

  it('sends nothing if anything is wrong, and reports all faults', async () => {
    const device = new FakeDevice()
    const writer = writerTo(device)
    const cases = /** @type {[unknown, RegExp][]} */ ([
      [{ speed: 1, setpoint: 81 }, /^"setpoint" must be at most 80; 81 is more\.$/],
      [{ setpoint: -1 }, /must be at least 0; -1 is less/],
      [
        { setpoint: 'warm', speed: 1e6, pump: 1 },
        /^"setpoint" must be a number; "speed" must be between -3276.8\d* and 3276.7\d*; "pump" is not a tag of this node\.$/
      ],
      [{ run: 2 }, /true or false/],
      [{ serial: 'ABCDE' }, /at most 4 characters/],
      [{}, /must be an object of values by tag/],
      [[1], /must be an object/],
      [7, /must be an object/]
    ])
    for (const [payload, text] of cases) {
      const error = await failureOf(() => writer.write(payload))
      expect(error, JSON.stringify(payload)).to.have.property('code', 'SLUICE_MODBUS_WRITE')
      expect(error.message).to.match(text)
    }
    expect(device.written).to.deep.equal([])
  })

  it('checks its limits exactly, before and after rounding', async () => {
    const device = new FakeDevice()
    const writer = writerTo(device, {
      tags: [
        { name: 'power', address: '0', type: 'uint16', scale: 10, max: 25 },
        { name: 'share', address: '1', type: 'uint16', scale: 0.1, max: 0.3 },
        { name: 'total', address: '2', type: 'int64', max: 2 ** 53 },
        { name: 'label', address: '6', type: 'string', length: 2, max: 3 }
      ]
    })
    const cases = /** @type {[object, RegExp][]} */ ([
      [{ power: 25 }, /^"power" must be at most 25; 25 would be written as 30\.$/],
      [{ share: 0.31 }, /^"share" must be at most 0\.3; 0\.31 is more\.$/],
      [{ total: 2n ** 53n + 1n }, /^"total" must be at most 9007199254740992; 9007199254740993 is more\.$/],
      [{ total: '9007199254740993' }, /is more/]
    ])
    for (const [payload, text] of cases) expect((await failureOf(() => writer.write(payload))).message).to.match(text)
    expect(device.written).to.deep.equal([])
    expect(Object.values(
      await writer.write({ power: 20, share: 0.3, total: 2n ** 53n, label: '42' })
    ).map(({ ok }) => ok)).to.deep.equal([true, true, true, true])
  })

  it('confirms values that no column could hold', async () => {
    const most = 2n ** 64n - 1n
    const writer = writerTo(new FakeDevice(), { tags: [{ name: 'total', address: '0', type: 'uint64' }] })
    expect(await writer.write({ total: String(most) })).to.deep.equal({ total: { written: most, readBack: most, ok: true } })
  })

  it('reports a value that the device does not keep', async () => {
    const device = new FakeDevice()
    const writer = writerTo(device)
    device.before = () => { device.memory['holding-registers'][20] = 500 }
    expect(await writer.write({ speed: 60 })).to.deep.equal({ speed: { written: 60, readBack: 50, ok: false } })
  })

  it('stops at the first failure, and reports what was written before', async () => {
    const device = new FakeDevice()
    device.fails = ({ address }) => address === 20 ? exception(4) : undefined
    const error = await failureOf(() => writerTo(device).write({ run: true, speed: 1, setpoint: 2 }))
    expect(error.code).to.equal('SLUICE_MODBUS_WRITE_FAILED')
    expect(error.message).to.match(
      /^"speed" could not be written and confirmed: .*exception 4.* Written before: run\. Not tried: setpoint\.$/
    )
    expect(error.details.confirmed).to.have.all.keys('run')
    expect(device.written.map(({ area }) => area)).to.deep.equal(['coils'])
  })

  it('reports a value that cannot be read back, values not kept, and those not tried', async () => {
    const device = new FakeDevice()
    device.before = () => { device.memory['holding-registers'][20] = 500 }
    const read = device.read.bind(device)
    device.read = async (area, ...place) => {
      if (area === 'coils') throw exception(4)
      return read(area, ...place)
    }
    const error = await failureOf(() => writerTo(device).write({ speed: 60, run: true, setpoint: 2, serial: 'A' }))
    expect(error.message).to.match(/^"run" was written, but could not be read back: .*exception 4/)
    expect(error.message).to.match(/ Written before: speed \(reads back as 50\)\. Not tried: setpoint, serial\.$/)
  })

  it('does not wait for a silent device', async () => {
    const device = new FakeDevice()
    device.fails = silent
    const error = await failureOf(() => writerTo(device).write({ run: true }))
    expect(error.message).to.match(/"run" could not be written and confirmed: .*silent/)
  })

  it('writes one message after the other, and limits how many wait', async () => {
    const device = new FakeDevice()
    const writer = writerTo(device)
    const { promise, resolve } = Promise.withResolvers()
    device.before = () => promise
    const all = Array.from({ length: 101 }, (_, i) => writer.write({ speed: i }))
    const refused = await failureOf(() => all[100])
    expect(refused.message).to.match(/100 messages already wait/)
    expect(device.written).to.have.length(1)
    resolve(undefined)
    await Promise.all(all.slice(0, 100))
    expect(device.written.map(({ values }) => values[0])).to.deep.equal(Array.from({ length: 100 }, (_, i) => 10 * i))
  })

  it('refuses tags that cannot be written', () => {
    const opening = (/** @type {object} */ tag) => () => writerTo(new FakeDevice(), { tags: [{ name: 'x', address: '0', ...tag }] })
    expect(opening({ area: 'input-registers' })).to.throw('Tags, row 1: Area can only be read.')
    expect(opening({ min: 5, max: 1 })).to.throw('Tags, row 1: Lowest must not be above the highest.')
    expect(opening({ type: 'bit', address: '0.1' })).to.throw('Tags, row 1: Type must not be bit')
  })

  describe('to pymodbus', () => {
    before(function () { requirePython(this) })

    it('writes every type and order', async () => {
      const server = await startPymodbus({ transport: 'tcp' })
      const device = openDevice({ port: server.port })
      try {
        const values = {
          int16: -2,
          uint16: 65535,
          int32: -70000,
          uint32: 4000000000,
          int64: '-9007199254740993',
          uint64: 2n ** 63n - 1n,
          float32: 1.5,
          float64: 0.1,
          bcd16: 1234,
          bcd32: 12345678,
          string: 'Pump'
        }
        for (const order of ['ABCD', 'CDAB', 'BADC', 'DCBA']) {
          const tags = Object.keys(values).map((type, i) => ({ name: type, type, order, address: String(4 * i), length: 4 }))
          const confirmed = await writerTo(device, { tags }).write(values)
          for (const [type, value] of Object.entries(values)) {
            expect(confirmed[type], `${type} ${order}`).to.have.property('ok', true)
            expect(String(confirmed[type].readBack)).to.equal(String(value))
          }
        }
        expect(await writerTo(device).write({ run: true })).to.deep.equal({ run: { written: true, readBack: true, ok: true } })
      } finally {
        await device.close()
        await server.kill()
      }
    })
  })
})
