import { expect } from 'chai'
import fc from 'fast-check'
import { ORDERS } from '../../gateway/modbus/bytes.js'
import { openDevice } from '../../gateway/modbus/device.js'
import { compileValue, preview } from '../../gateway/modbus/values.js'
import { startPymodbus } from '../servers/pymodbus.js'
import { requirePython, startPython } from '../servers/python.js'

/** @typedef {import('../../gateway/modbus/values.js').Description} Description */

/** @param {Description} description @param {number[]} registers */
const read = (description, registers) => compileValue(description).read(registers, 0)

/** @param {Description} description @param {unknown} value */
const encode = (description, value) => [...compileValue(description).encode(value)]

describe('A Modbus value', () => {
  it('is read in four byte orders', () => {
    const orders = { ABCD: [0x1234, 0x5678], CDAB: [0x5678, 0x1234], BADC: [0x3412, 0x7856], DCBA: [0x7856, 0x3412] }
    for (const [order, registers] of Object.entries(orders)) {
      expect(read({ type: 'int32', order: /** @type {any} */ (order) }, registers), order).to.equal(0x12345678)
    }
  })

  it('of 64 bits is reordered by registers, bytes or both', () => {
    const orders = {
      ABCD: [0x0123, 0x4567, 0x89AB, 0xCDEF],
      CDAB: [0xCDEF, 0x89AB, 0x4567, 0x0123],
      BADC: [0x2301, 0x6745, 0xAB89, 0xEFCD],
      DCBA: [0xEFCD, 0xAB89, 0x6745, 0x2301]
    }
    for (const [order, registers] of Object.entries(orders)) {
      expect(read({ type: 'int64', order: /** @type {any} */ (order) }, registers), order).to.equal(0x0123456789ABCDEFn)
    }
  })

  it('of one register has its bytes swapped by BADC and DCBA', () => {
    expect(ORDERS.map(order => read({ type: 'uint16', order }, [0x1234]))).to.deep.equal([0x1234, 0x1234, 0x3412, 0x3412])
  })

  it('is scaled to float64', () => {
    const codec = compileValue({ type: 'int16', scale: 0.1, offset: -40 })
    expect(codec.field).to.equal('float64')
    expect(codec.read([605], 0)).to.equal(20.5)
    expect([...codec.encode(20.5)]).to.deep.equal([605])
    expect([...codec.encode(20.54)]).to.deep.equal([605])
  })

  it('of 64 bits stays exact', () => {
    expect(read({ type: 'int64' }, [0x8000, 0, 0, 1])).to.equal(-(2n ** 63n) + 1n)
    expect(read({ type: 'uint64' }, [0x7FFF, 0xFFFF, 0xFFFF, 0xFFFF])).to.equal(2n ** 63n - 1n)
    expect(encode({ type: 'uint64' }, '18446744073709551615')).to.deep.equal([0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF])
  })

  it('that is bad is missing, with its fault', () => {
    const cases = /** @type {[Description, number[], string][]} */ ([
      [{ type: 'uint64' }, [0x8000, 0, 0, 0], 'out of range: 9223372036854775808'],
      [{ type: 'uint64', order: 'CDAB' }, [0xFFFF, 0, 0, 0xFFFF], 'out of range: 18446462598732906495'],
      [{ type: 'string-utf8', length: 2 }, [0x41FF], 'not UTF-8'],
      [{ type: 'float32' }, [0x7FC0, 0], 'not a number'],
      [{ type: 'float64', scale: 2 }, [0x7FF0, 0, 0, 0], 'not a number'],
      [{ type: 'bcd16' }, [0x12A4], 'bad BCD'],
      [{ type: 'bcd32', scale: 0.1 }, [0x1234, 0xF678], 'bad BCD']
    ])
    for (const [description, registers, fault] of cases) {
      const codec = compileValue(description)
      expect(codec.read(registers, 0), description.type).to.equal(undefined)
      expect(codec.fault(registers, 0)).to.equal(fault)
    }
  })

  it('can be a bit of a register', () => {
    expect([0, 3, 15].map(bit => read({ type: 'bit', bit }, [0x8008]))).to.deep.equal([0, 1, 1])
  })

  it('can be text, without its padding', () => {
    const text = [0x4142, 0x4320, 0x2000]
    expect(read({ type: 'string', length: 6 }, text)).to.equal('ABC')
    expect(read({ type: 'string', length: 2 }, text)).to.equal('AB')
    expect(read({ type: 'string', length: 6, order: 'BADC' }, text)).to.equal('BA C')
    expect(read({ type: 'string', length: 3 }, [0x4100, 0x4200])).to.equal('A')
    expect(encode({ type: 'string', length: 5 }, 'Öl')).to.deep.equal([0xD66C, 0, 0])
  })

  it('can be text in UTF-8, of which a character that is cut at the end is left out', () => {
    const type = 'string-utf8'
    expect(read({ type, length: 6 }, [0x32C2, 0xB043, 0x2020])).to.equal('2°C')
    expect(read({ type, length: 6, order: 'BADC' }, [0xC232, 0x43B0, 0])).to.equal('2°C')
    expect(read({ type, length: 4 }, [0x4142, 0xE282])).to.equal('AB')
    expect(encode({ type, length: 6 }, '2°€')).to.deep.equal([0x32C2, 0xB0E2, 0x82AC])
  })

  it('of type string is one byte a character, whatever the device means', () => {
    expect(read({ type: 'string', length: 4 }, [0x32C2, 0xB043])).to.equal('2Â°C')
  })

  it('of 64 unsigned bits can be its exact digits', () => {
    const type = 'uint64-string'
    const codec = compileValue({ type, order: 'CDAB' })
    expect(codec).to.include({ field: 'string', count: 4 })
    expect(codec.read([0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], 0)).to.equal('18446744073709551615')
    expect(codec.read([7, 0, 0, 0x8000], 0)).to.equal('9223372036854775815')
    expect(encode({ type, order: 'CDAB' }, '9223372036854775815')).to.deep.equal([7, 0, 0, 0x8000])
    expect(encode({ type }, 7)).to.deep.equal([0, 0, 0, 7])
  })

  it('that does not fit is refused', () => {
    const cases = /** @type {[Description, unknown, RegExp][]} */ ([
      [{ type: 'int16' }, 32768, /between -32768 and 32767/],
      [{ type: 'int16' }, 1.5, /a whole number/],
      [{ type: 'int16' }, '7', /a number/],
      [{ type: 'uint16' }, -1, /between 0 and 65535/],
      [{ type: 'uint16' }, NaN, /a number/],
      [{ type: 'int16', scale: -0.1 }, 4000, /between -3276\.7\d* and 3276\.8/],
      [{ type: 'uint64' }, 2 ** 60, /digits/],
      [{ type: 'uint64' }, -1n, /between 0/],
      [{ type: 'float32' }, 1e39, /between/],
      [{ type: 'bcd16' }, 10000, /between 0 and 9999/],
      [{ type: 'bool' }, 'on', /true or false/],
      [{ type: 'string', length: 3 }, 'four', /at most 3/],
      [{ type: 'string', length: 3 }, '€', /ISO 8859-1/],
      [{ type: 'string-utf8', length: 3 }, '2°C', /at most 3 bytes/],
      [{ type: 'string-utf8', length: 9 }, 'a\0b', /NUL/],
      [{ type: 'string-utf8', length: 9 }, '\uD800', /UTF-8/],
      [{ type: 'uint64-string' }, '18446744073709551616', /between 0/],
      [{ type: 'uint64-string' }, 'seven', /number/],
      [{ type: 'bit' }, true, /by itself/]
    ])
    for (const [description, value, text] of cases) {
      expect(() => encode(description, value), `${description.type} ${value}`).to.throw(text).with.property('code', 'SLUICE_MODBUS_VALUE')
    }
  })

  it('is read back as it was written, in every type and order', () => {
    const values = {
      int16: fc.integer({ min: -32768, max: 32767 }),
      uint16: fc.integer({ min: 0, max: 65535 }),
      int32: fc.integer(),
      uint32: fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map(Number),
      int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      uint64: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      float32: fc.float({ noNaN: true, noDefaultInfinity: true }),
      float64: fc.double({ noNaN: true, noDefaultInfinity: true }),
      bcd16: fc.integer({ min: 0, max: 9999 }),
      bcd32: fc.integer({ min: 0, max: 99_999_999 }),
      'uint64-string': fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
      'string-utf8': fc.string({ maxLength: 9, unit: fc.constantFrom('a', 'ä', '€', '😀') }).filter(text => Buffer.byteLength(text) <= 9),
      string: fc.string({ maxLength: 9, unit: fc.integer({ min: 0x21, max: 0xFF }).map(code => String.fromCharCode(code)) })
    }
    for (const [type, arbitrary] of Object.entries(values)) {
      fc.assert(fc.property(/** @type {fc.Arbitrary<any>} */ (arbitrary), fc.constantFrom(...ORDERS), (value, order) => {
        const { encode: write, read: readBack, count, field } = compileValue({ type, order, length: 9 })
        const registers = write(value)
        expect(registers).to.have.length(count)
        expect(readBack([0, ...registers], 1)).to.equal(field === 'int64' ? BigInt(value) : value)
      }), { numRuns: 300, seed: 4 })
    }
  })

  it('can always be read, whatever the registers hold', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 65535 }), { minLength: 4, maxLength: 4 }), registers => {
      for (const { type, ...texts } of preview(registers)) expect(Object.keys(texts), type).to.deep.equal(ORDERS)
    }), { numRuns: 500, seed: 4 })
  })

  it('is previewed in all types and orders', () => {
    const shown = preview([0x4048, 0xF5C3])
    expect(shown.map(({ type }) => type)).to.deep.equal([
      'int16', 'uint16', 'int32', 'uint32', 'float32', 'bcd16', 'bcd32', 'string', 'string-utf8'
    ])
    expect(shown.find(({ type }) => type === 'float32')).to.include({ ABCD: '3.140000104904175', type: 'float32' })
    expect(shown.find(({ type }) => type === 'bcd16')).to.include({ ABCD: '4048', BADC: '4840' })
    expect(shown.find(({ type }) => type === 'bcd32')).to.include({ ABCD: 'bad BCD' })
  })

  describe('against Python', () => {
    before(function () { requirePython(this) })

    it('matches what its struct module packs, read from a pymodbus server', async () => {
      const vectors = /** @type {(Description & {value: string, registers: number[]})[]} */ (JSON.parse(await output('modbus_values.py')))
      const registers = vectors.flatMap(vector => vector.registers)
      const server = await startPymodbus({ transport: 'tcp', contents: { 'holding-registers': registers } })
      const device = openDevice({ port: server.port })
      try {
        let address = 0
        for (const { value, ...description } of vectors) {
          const codec = compileValue({ ...description, length: 8 })
          const got = codec.read(await device.read('holding-registers', address, codec.count), 0)
          const wanted = codec.field === 'string' ? value : codec.field === 'int64' ? BigInt(value) : Number(value)
          expect(got, `${description.type} ${description.order}`).to.equal(wanted)
          if (description.type !== 'string') expect(encode(description, got)).to.deep.equal(description.registers)
          address += codec.count
        }
        expect(address).to.equal(registers.length)
      } finally {
        await device.close()
        await server.kill()
      }
    })
  })
})

/** @param {string} script */
async function output (script) {
  return (await startPython(script).stdout.toArray()).join('')
}
